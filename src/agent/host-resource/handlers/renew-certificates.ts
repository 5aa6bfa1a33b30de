import { formatError } from '../../../kit/errors.ts'
import type { RequestHandlers } from '../request-handlers.ts'
import type { TickResult } from '../../loop/run-loop.ts'
import { hostBusyError } from './handler-errors.ts'

/** Runs the agent's regular certificate check now. Messages about renewed certificates go to `log`. */
export type RenewNow = (log: (text: string) => void) => Promise<TickResult>

export function createRenewHandler(renew: RenewNow): RequestHandlers['renew-certificates'] {
  return async () => {
    const messages: string[] = []
    const { problems } = await renew((text) => void messages.push(text))
    if (problems === undefined) throw hostBusyError()
    const [first] = problems
    if (first !== undefined && messages.length === 0)
      throw first instanceof Error ? first : new Error(formatError(first))
    const lines = [...messages, ...problems.map(formatError)]
    return lines.length > 0
      ? lines
      : ['nothing is due, or control planes were asked and have not answered yet']
  }
}
