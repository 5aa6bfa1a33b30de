import type { KubeClient } from '../client.ts'
import type { NamespacedName } from '../object.ts'
import type { KubeCallOptions } from '../request.ts'
import { objectPath } from '../resources.ts'

export interface LogOptions extends KubeCallOptions {
  /** Container name; optional if the pod has one container. */
  readonly container?: string
  /** True to read the log from before the last restart of the container. */
  readonly previous?: boolean
  /** Number of lines to read from the end of the log. */
  readonly lines?: number
  readonly bytes?: number
}

export async function readPodLogs(
  client: KubeClient,
  pod: Required<NamespacedName>,
  { container, previous, lines, bytes, signal, timeout }: LogOptions = {},
): Promise<string> {
  const resource = await client.discovery.resource({ apiVersion: 'v1', kind: 'Pod' })
  const query = { container, previous, tailLines: lines, limitBytes: bytes }
  return client.text({ method: 'GET', path: objectPath(resource, pod, 'log'), query, signal, timeout })
}
