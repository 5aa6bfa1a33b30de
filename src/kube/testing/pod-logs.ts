import type { KubeClient } from '../client.ts'
import type { Place } from '../object.ts'
import { objectPath } from '../paths.ts'
import type { CallOptions } from '../request.ts'

export interface LogOptions extends CallOptions {
  /** May be left out when there is only one. */
  readonly container?: string
  /** Of the container that ran before the last restart. */
  readonly previous?: boolean
  /** So many lines from the end. */
  readonly lines?: number
  readonly bytes?: number
}

/** What a pod has said so far. */
export async function podLogs(
  client: KubeClient,
  pod: Required<Place>,
  { container, previous, lines, bytes, signal, timeout }: LogOptions = {},
): Promise<string> {
  const resource = await client.discovery.resource({ apiVersion: 'v1', kind: 'Pod' })
  const query = { container, previous, tailLines: lines, limitBytes: bytes }
  return client.text({ method: 'GET', path: objectPath(resource, pod, 'log'), query, signal, timeout })
}
