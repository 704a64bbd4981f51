/** The fields in which a person answers: made from choices or a JSON Schema, else a text. */
import type { ComponentChild } from 'preact'
import { useId } from 'preact/hooks'
import type { QuestionSummary } from '../../../src/wire/ops/tasks.ts'
import { type Field, type FieldSet, fieldsOf, valueIn } from '../schema-fields.ts'
import { jsonIn, textIn } from './act.tsx'
import { JsonField, TextField } from './field.tsx'

type Asked = Pick<QuestionSummary, 'choices' | 'schema'>

/** @param label of the field, where there is one only */
export function AnswerFields({
  question,
  label = 'Answer',
}: {
  readonly question: Asked
  readonly label?: string
}) {
  const { choices, schema } = question
  if (choices !== undefined) return <Choices choices={choices} />
  const fields = fieldsOf(schema)
  if (fields !== undefined) return <Fields fields={fields} />
  if (schema === undefined) {
    return <TextField label={label} name="answer" rows={3} required />
  }
  return (
    <>
      <JsonField label={label} name="answer" required />
      <details>
        <summary class="fold">JSON Schema</summary>
        <pre>{JSON.stringify(schema, null, 2)}</pre>
      </details>
    </>
  )
}

/** What the fields above say: a text, or the data of a part. */
export function answerIn(form: FormData, { choices, schema }: Asked): string | { data: unknown } {
  if (choices !== undefined || schema === undefined) return textIn(form, 'answer') ?? ''
  const fields = fieldsOf(schema)
  return { data: fields === undefined ? jsonIn(form, 'answer') : valueIn(fields, form) }
}

function Choices({ choices }: { readonly choices: NonNullable<Asked['choices']> }) {
  return (
    <fieldset class="fields">
      <legend class="hidden">Answer</legend>
      {choices.map(({ value, label = value }) => (
        <label class="choice" key={value}>
          <input type="radio" name="answer" value={value} required /> {label}
        </label>
      ))}
    </fieldset>
  )
}

function Fields({ fields }: { readonly fields: FieldSet }) {
  return (
    <div class="fields">
      {fields.fields.map((field) => (
        <OneField key={field.name} field={field} />
      ))}
    </div>
  )
}

function OneField({ field }: { readonly field: Field }) {
  const id = useId()
  const { kind, label, required, about } = field
  if (kind === 'boolean') {
    return (
      <div class="field">
        <label class="choice" htmlFor={id}>
          <Input id={id} field={field} />
          <span>
            {label}
            {about !== undefined && <small class="hint">{about}</small>}
          </span>
        </label>
      </div>
    )
  }
  return (
    <div class="field">
      <label htmlFor={id}>
        {label}
        {required ? '' : ' (optional)'}
      </label>
      <Input id={id} field={field} />
      {about !== undefined && <p class="hint">{about}</p>}
    </div>
  )
}

interface InputProps {
  readonly id: string
  readonly name: string
  readonly required: boolean
  readonly defaultValue: string | number | undefined
}

const inputs: Readonly<
  Record<Exclude<Field['kind'], 'choice' | 'boolean'>, (props: InputProps) => ComponentChild>
> = {
  text: (props) => <input {...props} type="text" />,
  number: (props) => <input {...props} type="number" step="any" />,
  integer: (props) => <input {...props} type="number" step={1} />,
  date: (props) => <input {...props} type="date" />,
  'date-time': (props) => <input {...props} type="datetime-local" />,
}

function Input({ id, field }: { readonly id: string; readonly field: Field }) {
  const { input: name, kind, required, options, initial } = field
  if (kind === 'choice') {
    const chosen = options.findIndex(({ value }) => value === initial)
    return (
      <select id={id} name={name} required={required}>
        <option value="">choose…</option>
        {options.map(({ label }, index) => (
          <option key={index} value={index} selected={index === chosen}>
            {label}
          </option>
        ))}
      </select>
    )
  }
  if (kind === 'boolean')
    return <input id={id} type="checkbox" name={name} defaultChecked={initial === true} />
  const given = typeof initial === 'string' || typeof initial === 'number' ? initial : undefined
  return <>{inputs[kind]({ id, name, required, defaultValue: given })}</>
}
