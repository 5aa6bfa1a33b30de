import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { apply } from '../../src/agent/apply/apply.ts'
import { certificateRequests } from '../../src/agent/apply/certificate-requests.ts'
import { diffHost } from '../../src/agent/apply/diff-host.ts'
import { reset } from '../../src/agent/apply/reset/reset.ts'
import { edgeContract } from '../../src/agent/host/testing/linux-host-contract.ts'
import type { LinuxHost } from '../../src/agent/host/host.ts'
import { linuxHost } from '../../src/agent/host/linux-host.ts'
import { nodePlanFormat } from '../../src/contract/node-plan.ts'
import { stage } from '../../src/contract/stage.ts'
import { describe, HyperkubeError } from '../../src/kit/errors.ts'
import { Secret } from '../../src/pki/secret.ts'

/**
 * Runs on a host of the lab: one request as JSON on standard input, answers as lines of JSON. It is the agent's hands
 * without its ears.
 */
const request = z.strictObject({
  ask: z.enum(['requests', 'diff', 'apply', 'reset', 'contract']),
  version: z.string(),
  plan: nodePlanFormat.newest.schema.optional(),
  through: stage.optional(),
  secrets: z.record(z.string(), z.string()),
  certificates: z.record(z.string(), z.string()),
  /** At which call of an edge the process kills itself. */
  dieAt: z.int().optional(),
})

const run = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const { signal } = new AbortController()

async function main(): Promise<void> {
  const {
    ask,
    version,
    plan,
    through = 'network',
    secrets,
    certificates,
    dieAt,
  } = request.parse(JSON.parse(await text(process.stdin)))
  const host = mortal(linuxHost(version), dieAt)
  const emit = (what: unknown, component?: string): void => say({ event: { what, component } })
  if (ask === 'contract') {
    for (const { name, check } of edgeContract) await check(host).then(() => say({ passed: name }))
    return
  }
  if (ask === 'reset') {
    say({ report: (await reset({ host, name: 'cp1', run, emit, signal })).report })
    return
  }
  if (plan === undefined) throw new Error('a plan is needed')
  if (ask === 'requests') say({ requests: await certificateRequests(host, plan) })
  else if (ask === 'diff') say({ diff: await diffHost(host, plan) })
  else {
    await apply({
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

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

let calls = 0

/** A process that ends as by kill -9, before the call of that number. */
function mortal(host: LinuxHost, dieAt: number | undefined): LinuxHost {
  const edge = <T extends object>(real: T): T =>
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
  const { files, users, kernel, systemd, fetch, tar } = host
  return {
    ...host,
    files: edge(files),
    users: edge(users),
    kernel: edge(kernel),
    systemd: edge(systemd),
    fetch: edge(fetch),
    tar: edge(tar),
  }
}

main().then(
  () => say({ ended: calls }),
  (error: unknown) => {
    const known = error instanceof HyperkubeError ? { code: error.code, hint: error.hint } : {}
    say({ failure: { message: describe(error), ...known } })
    process.exitCode = 1
  },
)
