/** Paints pictures and refines them. A refined picture keeps its name and gets a new id (A2A, "Life of a Task"). */
import type { Artifact } from '../core/messages/message.ts'
import { type Agent, agent, type Outcome } from '../engine/author/agent.ts'
import type { AgentTask } from '../engine/author/agent-task.ts'
import {
  colours,
  describePicture,
  fileName,
  type Picture,
  paint,
  type Subject,
  subjects,
} from './picture.ts'

export const painter: Agent = agent({
  name: 'painter',
  description: 'Paints a sailboat or a lighthouse, and changes its colour when asked',
  skills: [
    {
      id: 'paint',
      name: 'Paint a picture',
      description: 'Paints what is described, or refines a picture of the same conversation',
      tags: ['image'],
      examples: [
        'Generate an image of a sailboat on the ocean.',
        "That's great! Can you make the sailboat red?",
      ],
    },
  ],
  run: paintRequest,
})

export async function paintRequest(task: AgentTask): Promise<Outcome> {
  const picture = isRefinement(task.text) ? await refined(task) : await wanted(task)
  const base64 = await task.step('paint', () => paint(picture).toString('base64'))
  return {
    name: fileName(picture),
    description: describePicture(picture),
    mediaType: 'image/png',
    base64,
    metadata: { picture: { ...picture } },
  }
}

/** "Make it red", as opposed to "paint a red one". */
function isRefinement(text: string): boolean {
  return !/\b(generate|paint|draw|create)\b/i.test(text)
}

async function wanted(task: AgentTask): Promise<Picture> {
  let { text } = task
  for (;;) {
    const subject = subjectIn(text)
    if (subject !== undefined) {
      const where = /\b(?:on|in|at|by|near|under) .+?(?=[.!?]*$)/im.exec(text)?.[0]
      return { subject, ...colourIn(text), ...(where === undefined ? {} : { where }) }
    }
    text = (await task.ask(`What shall I paint: a ${subjects.join(' or a ')}?`)).text
  }
}

async function refined(task: AgentTask): Promise<Picture> {
  // The picture is the one with the subject in the text, or the only one, or the one that the user chooses.
  const found = await task.pickArtifact(nameIn(task.text) ?? onlyPicture(task))
  const before = found === undefined ? undefined : pictureOf(found.artifact)
  if (before === undefined) return wanted(task)
  const { colour } = colourIn(task.text)
  if (colour !== undefined) return { ...before, colour }
  const answer = await task.ask(`Which colour: ${Object.keys(colours).join(', ')}?`)
  return { ...before, ...colourIn(answer.text) }
}

function nameIn(text: string): string | undefined {
  const subject = subjectIn(text)
  return subject === undefined ? undefined : fileName({ subject })
}

function onlyPicture({ context }: AgentTask): string | undefined {
  const pictures = context.artifacts.filter(({ artifact }) => pictureOf(artifact) !== undefined)
  const names = new Set(pictures.map(({ artifact }) => artifact.name))
  return names.size === 1 ? [...names][0] : undefined
}

/** The content of a picture, read from its metadata, or from its name when there is no metadata. */
export function pictureOf(artifact: Artifact): Picture | undefined {
  const kept = artifact.metadata?.['picture'] as Picture | undefined
  if (kept !== undefined) return kept
  const subject = subjects.find((one) => artifact.name === fileName({ subject: one }))
  return subject === undefined ? undefined : { subject }
}

export function subjectIn(text: string): Subject | undefined {
  return subjects.find((subject) => text.toLowerCase().includes(subject))
}

export function colourIn(text: string): Pick<Picture, 'colour'> {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? []
  const colour = words.find((word) => Object.hasOwn(colours, word))
  return colour === undefined ? {} : { colour }
}
