import type { Host } from '../../host/host.ts'
import type { EmitRunEvent } from '../emit-run-event.ts'

export interface ResetOptions<H extends Host = Host> {
  readonly host: H
  /** Name of the host in cluster.yml. */
  readonly name: string
  readonly run: string
  readonly emit: EmitRunEvent
  readonly signal: AbortSignal
}
