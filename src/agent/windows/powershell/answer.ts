import { z } from 'zod'

/** What the script says of a request. */
export const answer = z.discriminatedUnion('ok', [
  z.strictObject({ id: z.int(), ok: z.literal(true), output: z.array(z.unknown()) }),
  z.strictObject({
    id: z.int(),
    ok: z.literal(false),
    error: z.strictObject({ message: z.string(), type: z.string(), about: z.string() }),
  }),
])
export type Answer = z.output<typeof answer>

const mark = 'hyperkube '

/** What a line says; an empty one says nothing, and any that does not come from the script is rubbish. */
export function readAnswer(line: string): Answer | 'nothing' | 'rubbish' {
  const text = line.trim()
  if (text === '') return 'nothing'
  if (!text.startsWith(mark)) return 'rubbish'
  try {
    const { success, data } = answer.safeParse(JSON.parse(text.slice(mark.length)))
    return success ? data : 'rubbish'
  } catch {
    return 'rubbish'
  }
}
