import type { KubeClient } from '../client.ts'
import type { NamespacedName } from '../object.ts'
import { objectPath } from '../paths.ts'
import type { KubeCallOptions } from '../request.ts'

export interface LogOptions extends KubeCallOptions {
  /** Container name; optional if the pod has one container. */
  readonly container?: string
  /** Reads the log of the container before its last restart. */
  readonly previous?: boolean
  /** Number of lines from the end. */
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
