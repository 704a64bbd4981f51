/** What a task hands over: a preview that runs nothing, and a download. */
import { useEffect, useState } from 'preact/hooks'
import type { Artifact, Part } from '../../../src/core/messages/message.ts'
import { Markdown } from '../markdown.tsx'
import { FoldedData } from './folded-data.tsx'
import { Icon } from './marks.tsx'

/** Only these are shown as pictures: a browser draws them and runs nothing. */
const pictures = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
/** Longer texts are cut in the preview. The download has everything. */
const MOST = 20_000

export function Artifacts({ artifacts }: { readonly artifacts: readonly Artifact[] }) {
  return (
    <section class="panel" aria-label="Artifacts">
      <header>
        <h2>Artifacts</h2>
        <span class="push">{artifacts.length}</span>
      </header>
      {artifacts.length === 0 && (
        <p class="pad quiet">What the task hands over shows here, with a preview.</p>
      )}
      <ul class="arts">
        {artifacts.map((artifact) => (
          <Made key={artifact.artifactId} artifact={artifact} />
        ))}
      </ul>
    </section>
  )
}

function Made({ artifact }: { readonly artifact: Artifact }) {
  const { name, artifactId, description, parts } = artifact
  const title = name ?? artifactId
  return (
    <li>
      {parts.map((part, index) => (
        <div key={index} class="stack-s">
          <div class="row">
            <Icon name="file" />
            <b class="cut">{fileNameOf(part, title)}</b>
            <Download part={part} name={fileNameOf(part, title)} />
          </div>
          <Preview part={part} name={fileNameOf(part, title)} />
        </div>
      ))}
      {description !== undefined && <span class="small quiet">{description}</span>}
    </li>
  )
}

function fileNameOf(part: Part, title: string): string {
  if (part.filename !== undefined) return part.filename
  if ('data' in part && !title.endsWith('.json')) return `${title}.json`
  return title
}

/** The address of a blob lives as long as the link is shown. */
function Download({ part, name }: { readonly part: Part; readonly name: string }) {
  const [address, setAddress] = useState<string | undefined>(undefined)
  useEffect(() => {
    const blob = blobOf(part)
    if (blob === undefined) return
    const made = URL.createObjectURL(blob)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [part])
  if (address === undefined) return null
  return (
    <a class="push small nowrap" href={address} download={name}>
      Download<span class="hidden"> {name}</span>
    </a>
  )
}

function blobOf(part: Part): Blob | undefined {
  if ('text' in part) return new Blob([part.text], { type: 'text/plain' })
  if ('data' in part) {
    return new Blob([JSON.stringify(part.data, null, 2)], { type: 'application/json' })
  }
  if (!('raw' in part)) return undefined
  const bytes = Uint8Array.from(atob(part.raw), (letter) => letter.charCodeAt(0))
  // Not with the type that an agent gave it: a browser must not run it in this origin.
  return new Blob([bytes], { type: 'application/octet-stream' })
}

function Preview({ part, name }: { readonly part: Part; readonly name: string }) {
  if ('data' in part) return <FoldedData data={part.data} />
  if ('url' in part) return <code>{part.url}</code>
  if ('text' in part)
    return <TextPreview text={part.text} name={name} type={part.mediaType ?? ''} />
  const type = part.mediaType ?? ''
  const size = `${Math.ceil((part.raw.length * 3) / 4 / 1_024).toLocaleString()} KB`
  return (
    <>
      {pictures.includes(type) && <img src={`data:${type};base64,${part.raw}`} alt={name} />}
      <span class="small quiet">
        {type || 'a file'}, {size}
      </span>
    </>
  )
}

function TextPreview(props: {
  readonly text: string
  readonly name: string
  readonly type: string
}) {
  const { text, name, type } = props
  const shown = text.slice(0, MOST)
  const isMarkdown = /markdown/.test(type) || /\.(?:md|markdown)$/i.test(name)
  const isDiff = /x-(?:diff|patch)/.test(type) || /\.(?:diff|patch)$/i.test(name)
  return (
    <>
      {isMarkdown ? <Markdown text={shown} /> : isDiff ? <Diff text={shown} /> : <pre>{shown}</pre>}
      {text.length > MOST && <span class="small quiet">The beginning. The download has all.</span>}
    </>
  )
}

const lineLooks: readonly (readonly [start: string, look: string])[] = [
  ['+++', 'at'],
  ['---', 'at'],
  ['diff ', 'at'],
  ['@@', 'at'],
  ['+', 'add'],
  ['-', 'del'],
]

/** A change of files: what was added and what was taken away, by sign and by colour. */
function Diff({ text }: { readonly text: string }) {
  return (
    <pre class="diff">
      <code>
        {text.split('\n').map((line, index) => (
          <span key={index} class={lineLooks.find(([start]) => line.startsWith(start))?.[1]}>
            {line || ' '}
          </span>
        ))}
      </code>
    </pre>
  )
}
