import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { duration } from '../kit/duration.ts'
import { KubeError, refused } from './kube-error.ts'
import { kubeObject, metadata } from './object.ts'
import { parseAnswer } from './parse-response.ts'
import { refusalOf } from './api-status.ts'

const version = z.string().min(1)
const versioned = kubeObject.extend({ metadata: metadata.extend({ resourceVersion: version }) })
const bookmark = z.looseObject({ metadata: z.looseObject({ resourceVersion: version }) })

const eventSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: versioned }),
  /** Nothing has happened up to there. */
  z.looseObject({ type: z.literal('BOOKMARK'), object: bookmark }),
  z.looseObject({ type: z.literal('ERROR'), object: z.looseObject({ code: z.int().optional() }) }),
])

type Event = z.infer<typeof eventSchema>
export type WatchEvent = Exclude<Event, { type: 'ERROR' }>

/** How long a watch may take, in milliseconds. */
export interface Deadlines {
  /** Without a byte. */
  readonly silence: number
  /** In all. */
  readonly life: number
}

/**
 * What the answer to a watch says, one event in a line. It ends when the server ends it; whatever else happens to it is a
 * KubeError, also when a line is cut, or is no event. `what` was asked.
 */
export async function* watchEvents(
  response: IncomingMessage,
  what: string,
  deadlines: Deadlines,
): AsyncGenerator<WatchEvent> {
  for await (const line of lines(response, what, deadlines)) {
    const event = parseAnswer(eventSchema, jsonOf(line, what), what)
    if (event.type !== 'ERROR') yield event
    else {
      const code = event.object.code ?? 500
      const unknown = { status: code, reason: undefined, message: '', causes: [] }
      throw refused(what, refusalOf(code, event.object) ?? unknown)
    }
  }
}

/** An object in etcd has at most some megabytes: a longer line must not fill our memory. */
const limit = 64 * 2 ** 20

async function* lines(
  response: IncomingMessage,
  what: string,
  { silence, life }: Deadlines,
): AsyncGenerator<string> {
  const endAfter = (time: number, why: string): NodeJS.Timeout =>
    setTimeout(() => response.destroy(new Error(`${why} ${duration(time)}`)), time)
  // Of a connection that is half open, nothing else tells.
  const silent = endAfter(silence, 'nothing came for')
  const old = endAfter(life, 'it did not end after')
  response.setEncoding('utf8')
  let parts: string[] = []
  let size = 0
  try {
    for await (const chunk of response) {
      silent.refresh()
      const [rest = '', ...later] = String(chunk).split('\n')
      parts.push(rest)
      size += rest.length
      for (const next of later) {
        yield parts.join('')
        parts = [next]
        size = next.length
      }
      if (size > limit) throw new Error(`a line is longer than ${limit} characters`)
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new KubeError('KUBE_UNREACHABLE', `${what}: the connection was cut: ${why}`, { cause })
  } finally {
    clearTimeout(silent)
    clearTimeout(old)
  }
  if (size > 0) throw new KubeError('KUBE_UNREACHABLE', `${what}: the answer ended within a line`)
}

function jsonOf(line: string, what: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new KubeError('KUBE_ANSWER', `${what}: a line is not JSON`, { cause })
  }
}
