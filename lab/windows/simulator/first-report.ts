import { describe } from '../../../src/kit/errors.ts'
import { printable } from '../../../src/kit/printable.ts'
import { type HostCheck, hostContract } from './host-contract.ts'
import type { WindowsOperations } from '../../../src/agent/windows/operations/windows-operations.ts'

/** What came of asking a host everything once. */
export interface FirstReport {
  /** Every operation that only looks, and what it gave. */
  readonly looks: readonly Look[]
  readonly checks: readonly Outcome[]
}

interface Look {
  readonly operation: string
  readonly milliseconds: number
  readonly output?: unknown
  readonly error?: string
}

interface Outcome {
  readonly check: string
  readonly changes: boolean
  readonly error?: string
}

/**
 * For the first person who runs this on a real Windows: all that only looks comes first, and what changes the host only when
 * that was asked for. Nothing ends it early, so that one report has all that is wrong.
 */
export async function firstReport(
  host: WindowsOperations,
  scratch: string,
  { changes, now }: { readonly changes: boolean; readonly now: () => number },
): Promise<FirstReport> {
  const looks: Look[] = []
  for (const [operation, ask] of Object.entries(looksAt(host, scratch))) {
    const start = now()
    const result = await attempt(ask)
    looks.push({ operation, milliseconds: Math.round(now() - start), ...result })
  }
  const checks: Outcome[] = []
  for (const one of hostContract.filter((check) => changes || !check.changes))
    checks.push(await outcomeOf(one, host, scratch))
  return { looks, checks }
}

async function outcomeOf({ name, changes, check }: HostCheck, host: WindowsOperations, scratch: string) {
  const { error } = await attempt(async () => check(host, scratch))
  return { check: name, changes, ...(error === undefined ? {} : { error }) }
}

/** Each operation that only looks, with something to look at that every Windows has. */
function looksAt(host: WindowsOperations, scratch: string): Readonly<Record<string, () => Promise<unknown>>> {
  const path = String.raw`C:\Windows\System32\drivers\etc\hosts`
  return {
    'system.describe': async () => host.system.describe({}),
    'services.list': async () => host.services.list({ names: ['hns', 'vmcompute', 'sshd', 'kubelet'] }),
    'networks.list': async () => host.networks.list({}),
    'endpoints.list': async () => host.endpoints.list({}),
    'policies.list': async () => host.policies.list({}),
    'adapters.list': async () => host.adapters.list({}),
    'routes.list': async () => host.routes.list({ destinations: ['0.0.0.0/0', '169.254.169.254/32'] }),
    'ports.list': async () => host.ports.list({}),
    'firewall.list': async () => host.firewall.list({ group: 'hyperkube' }),
    'environment.get': async () => host.environment.get({ name: 'Path' }),
    'processes.list': async () => host.processes.list({ below: String.raw`C:\Windows\System32` }),
    'files.stat': async () => host.files.stat({ path }),
    'files.digest': async () => host.files.digest({ path }),
    'files.read': async () => host.files.read({ path }),
    'files.access': async () => host.files.access({ path: scratch }),
  }
}

async function attempt(ask: () => Promise<unknown>): Promise<{ output?: unknown; error?: string }> {
  try {
    return { output: await ask() }
  } catch (error) {
    return { error: printable(describe(error)) }
  }
}
