import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { formatDuration } from '../kit/time-format.ts'
import { buildRefusalError, KubeError, parseApiStatus } from './kube-error.ts'
import { kubeObject, metadata, parseKubeResponse } from './object.ts'

const version = z.string().min(1)
const versioned = kubeObject.extend({ metadata: metadata.extend({ resourceVersion: version }) })
const bookmark = z.looseObject({ metadata: z.looseObject({ resourceVersion: version }) })

const eventSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: versioned }),
  /** A bookmark: all changes up to this version have been sent. */
  z.looseObject({ type: z.literal('BOOKMARK'), object: bookmark }),
  z.looseObject({ type: z.literal('ERROR'), object: z.looseObject({ code: z.int().optional() }) }),
])

type Event = z.infer<typeof eventSchema>
export type WatchEvent = Exclude<Event, { type: 'ERROR' }>

/** Limits of a watch. Times are in milliseconds. */
export interface WatchLimits {
  /** Maximum time without data. */
  readonly idleTimeout: number
  /** Maximum duration of the whole watch. */
  readonly maxLifetime: number
  /** Maximum length of a line, to limit memory use. Objects in etcd have a few megabytes at most. */
  readonly maxLineLength: number
}

/**
 * Reads the events of a watch response, one per line. Ends when the server ends the response. Any other end
 * throws a KubeError, for example a truncated line. `what` names the request in messages.
 */
export async function* readWatchEvents(
  response: IncomingMessage,
  what: string,
  limits: WatchLimits,
): AsyncGenerator<WatchEvent> {
  for await (const line of readLines(response, what, limits)) {
    const event = parseKubeResponse(eventSchema, parseJsonLine(line, what), what)
    if (event.type !== 'ERROR') yield event
    else {
      const code = event.object.code ?? 500
      const unknown = { status: code, reason: undefined, message: '', causes: [] }
      throw buildRefusalError(what, parseApiStatus(code, event.object) ?? unknown)
    }
  }
}

async function* readLines(
  response: IncomingMessage,
  what: string,
  { idleTimeout, maxLifetime, maxLineLength }: WatchLimits,
): AsyncGenerator<string> {
  const destroyAfter = (time: number, why: string): NodeJS.Timeout =>
    setTimeout(() => response.destroy(new Error(`${why} ${formatDuration(time)}`)), time)
  // A timer is the only way to detect a half-open connection.
  const idleTimer = destroyAfter(idleTimeout, 'no data received for')
  const lifetimeTimer = destroyAfter(maxLifetime, 'still open after')
  response.setEncoding('utf8')
  let parts: string[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      idleTimer.refresh()
      const [rest = '', ...later] = String(chunk).split('\n')
      parts.push(rest)
      size += rest.length
      for (const next of later) {
        yield parts.join('')
        parts = [next]
        size = next.length
      }
      if (size > maxLineLength) throw new Error(`a line is longer than ${maxLineLength} characters`)
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new KubeError('KUBE_UNREACHABLE', `${what}: the connection was lost: ${why}`, { cause })
  } finally {
    clearTimeout(idleTimer)
    clearTimeout(lifetimeTimer)
  }
  if (size > 0) throw new KubeError('KUBE_UNREACHABLE', `${what}: the response ended within a line`)
}

function parseJsonLine(line: string, what: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new KubeError('KUBE_INVALID_RESPONSE', `${what}: a line is not JSON`, { cause })
  }
}
