/** The pictures of the painter, as words and as pixels. Pure: equal pictures give equal bytes. */
import { box, type Canvas, createCanvas, disc, type Point, type Rgb } from './canvas.ts'
import { encodePng } from './png.ts'

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
