import type { EventFrame } from '../../../http/event-stream.ts'

/** The frames in a text of server-sent events, as `frameText` writes them: JSON has no line ends. */
export function framesIn(text: string): readonly EventFrame[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [id = '', data = ''] = event.split('\n')
      return { id: id.slice('id: '.length), data: data.slice('data: '.length) }
    })
}
