import { z } from 'zod'

/** The script's response to a request. */
export const scriptResponse = z.discriminatedUnion('ok', [
  z.strictObject({ id: z.int(), ok: z.literal(true), output: z.array(z.unknown()) }),
  z.strictObject({
    id: z.int(),
    ok: z.literal(false),
    error: z.strictObject({ message: z.string(), type: z.string(), about: z.string() }),
  }),
])
export type ScriptResponse = z.output<typeof scriptResponse>

const linePrefix = 'hyperkube '

/** Parses a line: `nothing` for an empty line, `invalid-output` for a line that the script did not write. */
export function parseScriptResponse(line: string): ScriptResponse | 'nothing' | 'invalid-output' {
  const text = line.trim()
  if (text === '') return 'nothing'
  if (!text.startsWith(linePrefix)) return 'invalid-output'
  try {
    const { success, data } = scriptResponse.safeParse(JSON.parse(text.slice(linePrefix.length)))
    return success ? data : 'invalid-output'
  } catch {
    return 'invalid-output'
  }
}
