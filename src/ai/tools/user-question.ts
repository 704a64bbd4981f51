/**
 * Lets a running tool ask the user a question. A step cannot wait for a person, so the execution
 * ends, the task asks, and the tool is executed again with the answer.
 */
import type { Json, JsonObject } from '../../core/values/json.ts'
import type { AgentTask, Answer } from '../../engine/author/agent-task.ts'

export interface UserQuestion {
  readonly message: string
  /** The JSON schema of the answer. */
  readonly schema?: JsonObject
}

export type UserAnswer = Pick<Answer, 'text' | 'data'>

/** Thrown to end an execution that has to ask the user. */
export class NeedsAnswer extends Error {
  override readonly name = 'NeedsAnswer'
  readonly question: UserQuestion

  constructor(question: UserQuestion) {
    super(`the tool asks the user: ${question.message}`)
    this.question = question
  }
}

const QUESTION = 'lull:question'

type Asked = { readonly [QUESTION]: UserQuestion }

/**
 * The result of an execution, or the question because of which it ended. Either one is recorded as
 * the result of the step.
 */
export async function resultOrQuestion<T>(work: () => Promise<T>): Promise<T | Asked> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NeedsAnswer) return { [QUESTION]: error.question }
    throw error
  }
}

export function questionIn(result: unknown): UserQuestion | undefined {
  return typeof result === 'object' && result !== null && QUESTION in result
    ? (result as Asked)[QUESTION]
    : undefined
}

/**
 * Asks the questions of a tool until it returns a result.
 * @param execute executes the tool in a new step with the answers so far
 */
export async function withAnswers<T extends Json>(
  task: AgentTask,
  first: T,
  execute: (answers: readonly UserAnswer[]) => Promise<T>,
): Promise<T> {
  const answers: UserAnswer[] = []
  let result = first
  for (let question = questionIn(result); question !== undefined; question = questionIn(result)) {
    const { message, schema } = question
    const shape = schema === undefined ? [] : [{ data: { schema } }]
    answers.push(await task.ask([{ text: message }, ...shape]))
    result = await execute([...answers])
  }
  return result
}

/**
 * Returns a function that gives the answers in the order of the questions.
 * @throws NeedsAnswer for a question that has no answer yet
 */
export function answering(answers: readonly UserAnswer[]): (question: UserQuestion) => UserAnswer {
  let next = 0
  return (question) => {
    const answer = answers[next++]
    if (answer === undefined) throw new NeedsAnswer(question)
    return answer
  }
}
