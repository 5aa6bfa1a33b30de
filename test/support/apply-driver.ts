import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { applyPlan } from '../../src/agent/apply/apply.ts'
import { createCertificateRequests } from '../../src/agent/apply/certificate-requests.ts'
import { diffHost } from '../../src/agent/apply/diff-host.ts'
import { runReset } from '../../src/agent/reset/reset.ts'
import type { LinuxHost } from '../../src/agent/host/host.ts'
import { createLinuxHost } from '../../src/agent/host/linux/linux-host.ts'
import { linuxHostContract } from '../../src/agent/host/testing/linux-host-contract.ts'
import { stageSchema } from '../../src/contract/component-plan.ts'
import { nodePlanFormat } from '../../src/contract/node-plan.ts'
import { formatError, HyperkubeError } from '../../src/kit/errors.ts'
import { Secret } from '../../src/pki/secret.ts'

/** A request of the test, as JSON on standard input. */
const request = z.strictObject({
  action: z.enum(['requests', 'diff', 'apply', 'reset', 'contract']),
  version: z.string(),
  plan: nodePlanFormat.newest.schema.optional(),
  through: stageSchema.optional(),
  secrets: z.record(z.string(), z.string()),
  certificates: z.record(z.string(), z.string()),
  /** Number of the host call before which the driver kills itself. */
  dieAt: z.int().optional(),
})

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const { signal } = new AbortController()

/** Serves one request on a lab host with the agent's apply code, without an agent, and prints JSON lines. */
async function main(): Promise<void> {
  const {
    action,
    version,
    plan,
    through = 'network',
    secrets,
    certificates,
    dieAt,
  } = request.parse(JSON.parse(await text(process.stdin)))
  const host = crashAtCall(createLinuxHost(version), dieAt)
  const emit = (body: unknown, component?: string): void => printLine({ event: { body, component } })
  if (action === 'contract') {
    for (const { name, check } of linuxHostContract) await check(host).then(() => printLine({ passed: name }))
    return
  }
  if (action === 'reset') {
    printLine({ report: (await runReset({ host, name: 'cp1', run, emit, signal })).report })
    return
  }
  if (plan === undefined) throw new Error('a plan is needed')
  if (action === 'requests') printLine({ requests: await createCertificateRequests(host, plan) })
  else if (action === 'diff') printLine({ diff: await diffHost(host, plan) })
  else {
    await applyPlan({
      host,
      plan,
      through,
      secrets: new Map(
        Object.entries(secrets).map(([name, base64]) => [
          name,
          new Secret(name, Buffer.from(base64, 'base64')),
        ]),
      ),
      certificates: new Map(Object.entries(certificates)),
      run,
      emit,
      signal,
    })
  }
}

function printLine(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Number of host calls so far. */
let calls = 0

/** Wraps a host so that its calls are counted and the driver kills itself before call number `dieAt`. */
function crashAtCall(host: LinuxHost, dieAt: number | undefined): LinuxHost {
  const wrapCalls = <T extends object>(real: T): T =>
    new Proxy(real, {
      get(target, property, receiver) {
        const value: unknown = Reflect.get(target, property, receiver)
        if (typeof value !== 'function') return value
        return (...args: unknown[]): unknown => {
          if (++calls === dieAt) process.kill(process.pid, 'SIGKILL')
          return Reflect.apply(value, target, args)
        }
      },
    })
  const { files, users, kernel, services, fetch, tar } = host
  return {
    ...host,
    files: wrapCalls(files),
    users: wrapCalls(users),
    kernel: wrapCalls(kernel),
    services: wrapCalls(services),
    fetch: wrapCalls(fetch),
    tar: wrapCalls(tar),
  }
}

main().then(
  () => printLine({ ended: calls }),
  (error: unknown) => {
    const details = error instanceof HyperkubeError ? { code: error.code, hint: error.hint } : {}
    printLine({ failure: { message: formatError(error), ...details } })
    process.exitCode = 1
  },
)
