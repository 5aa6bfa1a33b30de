import type { WindowsOperations } from '../../../src/agent/host/windows-operations/table.ts'
import { formatError } from '../../../src/kit/errors.ts'
import { toPrintable } from '../../../src/kit/text.ts'
import { hostContract, type HostContractCheck } from './host-contract.ts'

/** Results of all read operations and checks on a host. */
export interface FirstReport {
  readonly reads: readonly ReadResult[]
  readonly checks: readonly CheckResult[]
}

interface ReadResult {
  readonly operation: string
  readonly milliseconds: number
  readonly output?: unknown
  readonly error?: string
}

interface CheckResult {
  readonly check: string
  readonly changes: boolean
  readonly error?: string
}

/**
 * Runs all read operations and checks, for the first test on a real Windows host. Checks that change the host
 * run only on request. A failure does not end the run, so the report contains all problems.
 */
export async function runFirstReport(
  host: WindowsOperations,
  scratch: string,
  { changes, now }: { readonly changes: boolean; readonly now: () => number },
): Promise<FirstReport> {
  const reads: ReadResult[] = []
  for (const [operation, read] of Object.entries(buildReads(host, scratch))) {
    const start = now()
    const result = await attempt(read)
    reads.push({ operation, milliseconds: Math.round(now() - start), ...result })
  }
  const checks: CheckResult[] = []
  for (const one of hostContract.filter((check) => changes || !check.changes))
    checks.push(await runCheck(one, host, scratch))
  return { reads, checks }
}

async function runCheck(
  { name, changes, check }: HostContractCheck,
  host: WindowsOperations,
  scratch: string,
) {
  const { error } = await attempt(async () => check(host, scratch))
  return { check: name, changes, ...(error === undefined ? {} : { error }) }
}

/** Returns all read operations with inputs that exist on every Windows host. */
function buildReads(
  host: WindowsOperations,
  scratch: string,
): Readonly<Record<string, () => Promise<unknown>>> {
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

async function attempt(read: () => Promise<unknown>): Promise<{ output?: unknown; error?: string }> {
  try {
    return { output: await read() }
  } catch (error) {
    return { error: toPrintable(formatError(error)) }
  }
}
