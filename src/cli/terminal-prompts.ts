import type { Readable, Writable } from 'node:stream'
import type { CANCEL_SYMBOL } from '@clack/prompts'
import { Interrupted, type Questions } from './prompts.ts'

export interface Terminal {
  readonly input: Readable
  readonly output: Writable
}

/** Asks at a terminal. What draws the questions is loaded with the first of them: most commands ask nothing. */
export function terminalQuestions({ input, output }: Terminal, signal: AbortSignal): Questions {
  const common = { input, output, signal }
  const load = async () => import('@clack/prompts')
  return {
    async begin(text) {
      const { intro } = await load()
      intro(text, common)
    },
    async text({ message, fallback = '', check }) {
      const meant = (answer: string | undefined = ''): string => answer.trim() || fallback
      const validate = (answer: string | undefined): string | undefined => check(meant(answer))
      const { text } = await load()
      return meant(
        answered(await text({ ...common, message, placeholder: fallback, defaultValue: fallback, validate })),
      )
    },
    async select({ message, choices, fallback }) {
      const { select } = await load()
      // clack wants to know that a value is plain text, which a type variable does not tell it.
      const options = choices.map(({ value, label }): { value: string; label: string } => ({ value, label }))
      const value = answered(await select<string>({ ...common, message, options, initialValue: fallback }))
      return choices.find((choice) => choice.value === value)?.value ?? fallback
    },
    async confirm({ message, fallback }) {
      const { confirm } = await load()
      return answered(await confirm({ ...common, message, initialValue: fallback }))
    },
    async show(title, text) {
      const { note } = await load()
      note(text.trimEnd(), title, { ...common, format: (line) => line })
    },
    async end(text) {
      const { outro } = await load()
      outro(text, common)
    },
  }
}

function answered<T extends string | boolean>(answer: T | typeof CANCEL_SYMBOL): T {
  if (typeof answer === 'symbol') throw new Interrupted()
  return answer
}
