import type { Readable, Writable } from 'node:stream'
import type { CANCEL_SYMBOL } from '@clack/prompts'
import { Interrupted, type Prompts } from './prompts.ts'

export interface Terminal {
  readonly input: Readable
  readonly output: Writable
}

/**
 * Creates prompts at a terminal. The prompt library is loaded with the first prompt, because most commands do
 * not prompt.
 */
export function createTerminalPrompts({ input, output }: Terminal, signal: AbortSignal): Prompts {
  const common = { input, output, signal }
  const load = async () => import('@clack/prompts')
  return {
    async begin(text) {
      const { intro } = await load()
      intro(text, common)
    },
    async text({ message, fallback = '', check }) {
      const resolveReply = (reply: string | undefined = ''): string => reply.trim() || fallback
      const validate = (reply: string | undefined): string | undefined => check(resolveReply(reply))
      const { text } = await load()
      return resolveReply(
        unwrapReply(
          await text({ ...common, message, placeholder: fallback, defaultValue: fallback, validate }),
        ),
      )
    },
    async password({ message, check }) {
      const { password } = await load()
      const validate = (reply: string | undefined): string | undefined => check(reply ?? '')
      return unwrapReply(await password({ ...common, message, validate }))
    },
    async select({ message, choices, fallback }) {
      const { select } = await load()
      // The values are passed as strings, because TypeScript cannot resolve clack's conditional option type
      // for the type variable T.
      const options = choices.map(({ value, label }): { value: string; label: string } => ({ value, label }))
      const value = unwrapReply(await select<string>({ ...common, message, options, initialValue: fallback }))
      return choices.find((choice) => choice.value === value)?.value ?? fallback
    },
    async confirm({ message, fallback }) {
      const { confirm } = await load()
      return unwrapReply(await confirm({ ...common, message, initialValue: fallback }))
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

function unwrapReply<T extends string | boolean>(reply: T | typeof CANCEL_SYMBOL): T {
  if (typeof reply === 'symbol') throw new Interrupted()
  return reply
}
