import type { HostSpec } from '../../spec/host.ts'
import { buildUnknownHostKeyError } from '../../ssh/host-key-errors.ts'
import type { HostKeyStore } from '../../ssh/host-key-store.ts'
import type { SshConnector } from '../../workspace/ssh-connector.ts'
import type { ActionRun } from './action-run.ts'

export interface AcceptHostKeysDeps {
  readonly connector: Pick<SshConnector, 'findUnknownKeys'>
  readonly keys: Pick<HostKeyStore, 'accept'>
  /** Command that accepts the keys. The error after a declined prompt suggests it. */
  readonly acceptCommand: string
  readonly signal: AbortSignal
}

/**
 * Shows all unknown host keys and asks once whether to accept them. Throws if they are not accepted, before
 * any host gets data. Hosts behind an unknown bastion need another prompt, because they are reachable only
 * after the bastion's key was accepted.
 */
export async function acceptHostKeys(
  { connector, keys, acceptCommand, signal }: AcceptHostKeysDeps,
  hosts: readonly HostSpec[],
  { show, confirm }: Pick<ActionRun, 'show' | 'confirm'>,
): Promise<void> {
  for (;;) {
    const unknown = await connector.findUnknownKeys(hosts, signal)
    if (unknown.length === 0) return
    show({ type: 'host-keys', unknown })
    if ((await confirm({ type: 'host-keys', unknown })) !== 'confirmed')
      throw buildUnknownHostKeyError(unknown, acceptCommand)
    keys.accept(unknown)
  }
}

/**
 * Builds the run of an action that only reads. It declines every prompt, so unknown host keys are refused.
 */
export function refuseUnknownHostKeys({
  emit,
}: Pick<ActionRun, 'emit'>): Pick<ActionRun, 'emit' | 'show' | 'confirm'> {
  return { emit, show: () => undefined, confirm: async () => 'declined' }
}
