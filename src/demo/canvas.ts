/** A raster image that is drawn with filled, anti-aliased polygons. Later polygons cover earlier ones. */
export type Rgb = readonly [red: number, green: number, blue: number]
export type Point = readonly [x: number, y: number]

export interface Canvas {
  readonly width: number
  readonly height: number
  readonly rgb: Uint8Array
  fill(shape: readonly Point[], colour: Rgb): void
}

/** Sample lines per row of pixels, for anti-aliasing. */
const LINES = 4

export function createCanvas(width: number, height: number): Canvas {
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

export function disc([x, y]: Point, radius: number): readonly Point[] {
  const corners = 32
  return Array.from({ length: corners }, (_, index): Point => {
    const angle = (index / corners) * 2 * Math.PI
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]
  })
}

export function box(x: number, y: number, width: number, height: number): readonly Point[] {
  return [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ]
}
