import { describe } from '../../../kit/errors.ts'
import type { Deeds } from '../request-handlers.ts'
import type { Look } from '../../loop/run-loop.ts'
import { taken } from './handler-errors.ts'

/** Looks at certificates now as the agent does by itself, and tells what was renewed as that look says it. */
export type Renew = (say: (text: string) => void) => Promise<Look>

export function renewCertificates(renew: Renew): Deeds['renew-certificates'] {
  return async () => {
    const said: string[] = []
    const { troubles } = await renew((text) => void said.push(text))
    if (troubles === undefined) throw taken()
    const [first] = troubles
    if (first !== undefined && said.length === 0)
      throw first instanceof Error ? first : new Error(describe(first))
    const lines = [...said, ...troubles.map(describe)]
    return lines.length > 0
      ? lines
      : ['nothing is due, or control planes were asked and have not answered yet']
  }
}
