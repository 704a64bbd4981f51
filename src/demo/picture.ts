/** The pictures of the painter, as words and as pixels. Pure: equal pictures give equal bytes. */

import { crc32, deflateSync } from 'node:zlib'

export type Subject = 'sailboat' | 'lighthouse'

export interface Picture {
  readonly subject: Subject
  readonly colour?: string
  /** The rest of the request, such as "on the ocean". */
  readonly where?: string
}

export const subjects: readonly Subject[] = ['sailboat', 'lighthouse']

export const colours: Readonly<Record<string, Rgb>> = {
  red: [200, 30, 40],
  orange: [235, 130, 30],
  yellow: [245, 205, 50],
  green: [40, 140, 70],
  blue: [40, 80, 180],
  purple: [120, 60, 150],
  pink: [235, 130, 170],
  white: [250, 250, 245],
  black: [35, 35, 40],
  brown: [120, 75, 45],
}

export function fileName({ subject }: Picture): string {
  return `${subject}_image.png`
}

export function describePicture({ subject, colour, where }: Picture): string {
  const thing = [colour, subject].filter((word) => word !== undefined).join(' ')
  const article = /^[aeiou]/.test(thing) ? 'an' : 'a'
  return `A generated image of ${article} ${thing}${where === undefined ? '' : ` ${where}`}.`
}

const [WIDTH, HEIGHT, HORIZON] = [240, 180, 105]

const sky: Rgb = [165, 210, 240]
const sun: Rgb = [255, 225, 130]
const sea: Rgb = [35, 100, 150]
const foam: Rgb = [80, 150, 195]
const wood: Rgb = [120, 75, 45]
const canvasWhite: Rgb = [245, 240, 225]

const draw: Readonly<Record<Subject, (canvas: Canvas, colour: Rgb | undefined) => void>> = {
  sailboat(canvas, colour) {
    canvas.fill(box(117, 30, 3, 95), wood)
    const mainsail: readonly Point[] = [
      [122, 34],
      [122, 112],
      [172, 112],
    ]
    const jib: readonly Point[] = [
      [115, 42],
      [115, 112],
      [80, 112],
    ]
    const hull: readonly Point[] = [
      [68, 120],
      [180, 120],
      [162, 142],
      [86, 142],
    ]
    canvas.fill(mainsail, colour ?? canvasWhite)
    canvas.fill(jib, canvasWhite)
    canvas.fill(hull, colour ?? wood)
  },
  lighthouse(canvas, colour) {
    const rock: readonly Point[] = [
      [70, 150],
      [100, 122],
      [145, 120],
      [180, 150],
    ]
    const tower: readonly Point[] = [
      [112, 45],
      [130, 45],
      [138, 124],
      [104, 124],
    ]
    canvas.fill(rock, [90, 90, 95])
    canvas.fill(tower, colour ?? canvasWhite)
    canvas.fill(box(111, 68, 21, 12), wood)
    canvas.fill(box(108, 92, 27, 12), wood)
    canvas.fill(box(113, 32, 16, 13), sun)
    canvas.fill(
      [
        [110, 32],
        [132, 32],
        [121, 22],
      ],
      wood,
    )
  },
}

/** A PNG. */
export function paint({ subject, colour }: Picture): Buffer {
  const canvas = createCanvas(WIDTH, HEIGHT)
  canvas.fill(box(0, 0, WIDTH, HEIGHT), sky)
  canvas.fill(disc([195, 38], 18), sun)
  canvas.fill(box(0, HORIZON, WIDTH, HEIGHT), sea)
  for (let y = HORIZON + 12; y < HEIGHT; y += 14) {
    for (let x = (y % 5) * 9 - 20; x < WIDTH; x += 46) canvas.fill(wave(x, y), foam)
  }
  draw[subject](canvas, colour === undefined ? undefined : colours[colour])
  return encodePng(WIDTH, HEIGHT, canvas.rgb)
}

function wave(x: number, y: number): readonly Point[] {
  return [
    [x, y],
    [x + 11, y - 2],
    [x + 22, y],
    [x + 11, y + 1],
  ]
}

/** A raster image that is drawn with filled, anti-aliased polygons. Later polygons cover earlier ones. */
type Rgb = readonly [red: number, green: number, blue: number]
type Point = readonly [x: number, y: number]

interface Canvas {
  readonly width: number
  readonly height: number
  readonly rgb: Uint8Array
  fill(shape: readonly Point[], colour: Rgb): void
}

/** Sample lines per row of pixels, for anti-aliasing. */
const LINES = 4

function createCanvas(width: number, height: number): Canvas {
  const rgb = new Uint8Array(width * height * 3)

  function fill(shape: readonly Point[], colour: Rgb): void {
    const ys = shape.map(([, y]) => y)
    const first = Math.max(0, Math.floor(Math.min(...ys)))
    const last = Math.min(height, Math.ceil(Math.max(...ys)))
    for (let y = first; y < last; y++) {
      const shares = new Float32Array(width)
      for (let line = 0; line < LINES; line++) cover(shares, shape, y + (line + 0.5) / LINES)
      shares.forEach((share, x) => {
        if (share > 0) blend((y * width + x) * 3, colour, share)
      })
    }
  }

  function blend(at: number, colour: Rgb, share: number): void {
    for (let channel = 0; channel < 3; channel++) {
      const was = rgb[at + channel] ?? 0
      rgb[at + channel] = Math.round(was + ((colour[channel] ?? 0) - was) * share)
    }
  }

  return { width, height, rgb, fill }
}

/** For one sample line, adds to every pixel of the row the share that lies inside the shape. */
function cover(shares: Float32Array, shape: readonly Point[], y: number): void {
  const edges = crossings(shape, y)
  for (let index = 0; index + 1 < edges.length; index += 2) {
    const from = Math.max(0, edges[index] ?? 0)
    const to = Math.min(shares.length, edges[index + 1] ?? 0)
    for (let x = Math.floor(from); x < to; x++) {
      shares[x] = (shares[x] ?? 0) + (Math.min(to, x + 1) - Math.max(from, x)) / LINES
    }
  }
}

/** The crossings of a horizontal line with the outline, from left to right. */
function crossings(shape: readonly Point[], y: number): readonly number[] {
  const found = shape.flatMap(([toX, toY], index) => {
    const [fromX, fromY] = shape.at(index - 1) ?? [0, 0]
    const crosses = toY > y !== fromY > y
    return crosses ? [fromX + ((toX - fromX) * (y - fromY)) / (toY - fromY)] : []
  })
  return found.sort((a, b) => a - b)
}

function disc([x, y]: Point, radius: number): readonly Point[] {
  const corners = 32
  return Array.from({ length: corners }, (_, index): Point => {
    const angle = (index / corners) * 2 * Math.PI
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]
  })
}

function box(x: number, y: number, width: number, height: number): readonly Point[] {
  return [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ]
}

/** Encodes a picture as PNG (ISO/IEC 15948): 8 bits per channel, RGB, no filter. */
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const TRUECOLOUR = 2

/** @param rgb three bytes per pixel, row by row from the top */
function encodePng(width: number, height: number, rgb: Uint8Array): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, TRUECOLOUR, 0, 0, 0], 8)

  // Every row begins with the number of its filter.
  const rows = Buffer.alloc(height * (1 + width * 3))
  for (let y = 0; y < height; y++) {
    rows.set(rgb.subarray(y * width * 3, (y + 1) * width * 3), y * (1 + width * 3) + 1)
  }
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}
