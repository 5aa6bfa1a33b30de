import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Host } from '../../lab/hosts/host.ts'
import type { ComponentPlan, Stage } from '../../src/contract/component-plan.ts'
import type { Finding } from '../../src/contract/finding.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'
import type { Op } from '../../src/contract/op.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { secretFiles } from '../../src/identity/secret-files.ts'
import { signRequest } from '../../src/pki/sign.ts'

const directory = '/usr/local/lib/apply-driver'

interface DriverLine {
  readonly event?: {
    readonly body: { readonly type: string; readonly op?: Op; readonly result?: { outcome: string } }
  }
  readonly requests?: Record<string, string>
  readonly diff?: { readonly ops: readonly Op[]; readonly findings: readonly Finding[] }
  readonly report?: readonly { readonly step: string; readonly removed: readonly string[] }[]
  readonly passed?: string
  /** Number of calls to the host. Missing if the run failed or was killed. */
  readonly ended?: number
  readonly failure?: { readonly message: string; readonly code?: string; readonly hint?: string }
}

export interface ApplyOptions {
  readonly through?: Stage
  readonly dieAt?: number
}

/** A lab host on which apply, diff and reset run without an agent. */
export class AppliedHost {
  readonly host: Host
  readonly #identity: Identity

  private constructor(host: Host, identity: Identity) {
    this.host = host
    this.#identity = identity
  }

  /** Installs Node and the bundled driver, because lab hosts have neither. */
  static async install(host: Host, identity: Identity): Promise<AppliedHost> {
    const work = await mkdtemp(join(tmpdir(), 'driver-'))
    try {
      const outfile = join(work, 'driver.cjs')
      const entry = join(import.meta.dirname, 'apply-driver.ts')
      await build({
        entryPoints: [entry],
        outfile,
        bundle: true,
        platform: 'node',
        target: 'node24',
        format: 'cjs',
        logLevel: 'error',
      })
      await host.exec(['mkdir', '-p', directory])
      for (const [from, name] of [
        [process.execPath, 'node'],
        [outfile, 'driver.cjs'],
      ] as const) {
        const argv = ['install', '-m', '755', '/dev/stdin', `${directory}/${name}`] as const
        await host.exec([...argv], { input: await readFile(from) })
      }
    } finally {
      await rm(work, { recursive: true, force: true })
    }
    return new AppliedHost(host, identity)
  }

  /**
   * Applies a plan as an operator does: signs the certificate requests of the host and sends the certificates
   * with the plan.
   */
  async apply(
    plan: NodePlan,
    { through = 'network', dieAt }: ApplyOptions = {},
  ): Promise<readonly DriverLine[]> {
    const [response] = await this.#send({ action: 'requests', plan })
    const certificates = await this.#sign(plan, response?.requests ?? {})
    return this.#send({ action: 'apply', plan, through, certificates, secrets: this.#secrets(), dieAt })
  }

  async diff(plan: NodePlan): Promise<NonNullable<DriverLine['diff']>> {
    const lines = await this.#send({ action: 'diff', plan })
    const found = lines.find(({ diff }) => diff !== undefined)?.diff
    if (found === undefined) throw new Error(JSON.stringify(lines))
    return found
  }

  async reset({ dieAt }: Pick<ApplyOptions, 'dieAt'> = {}): Promise<readonly DriverLine[]> {
    return this.#send({ action: 'reset', dieAt })
  }

  async contract(): Promise<readonly DriverLine[]> {
    return this.#send({ action: 'contract' })
  }

  async #send(request: object): Promise<readonly DriverLine[]> {
    const document = { version: '0.0.0', secrets: {}, certificates: {}, ...request }
    const { stdout } = await this.host.exec([`${directory}/node`, `${directory}/driver.cjs`], {
      input: JSON.stringify(document),
      allowFailure: true,
    })
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((line): DriverLine => JSON.parse(line))
  }

  #secrets(): Record<string, string> {
    const files = [...secretFiles(this.#identity)]
    return Object.fromEntries(
      files.map(([name, secret]) => [name, Buffer.from(secret.reveal()).toString('base64')]),
    )
  }

  async #sign(plan: NodePlan, requests: Record<string, string>): Promise<Record<string, string>> {
    const { cas } = this.#identity
    const planned = plan.components.flatMap(({ certificates }) => certificates)
    const signed = Object.entries(requests).map(async ([path, request]) => {
      const spec = planned.find(({ certificateFile }) => certificateFile === path)
      if (spec === undefined) throw new Error(`${path} was not planned`)
      const { ca, subject, names, usages, lifetime } = spec
      const signer = ca === 'front-proxy' ? cas.frontProxy : cas[ca]
      return [
        path,
        await signRequest(signer, request, { subject, names, usages, lifetime }, new Date()),
      ] as const
    })
    return Object.fromEntries(await Promise.all(signed))
  }
}

/** Lists the ops that changed something, as text. */
export function listDoneOps(lines: readonly DriverLine[]): string[] {
  return lines.flatMap(({ event }) => {
    const { op, type, result } = event?.body ?? {}
    return type === 'op-ended' && op !== undefined && result?.outcome === 'done'
      ? [`${op.action} ${op.target} ${op.name}`]
      : []
  })
}

export function findFailure(lines: readonly DriverLine[]): NonNullable<DriverLine['failure']> | undefined {
  return lines.find(({ failure }) => failure !== undefined)?.failure
}

/** Returns the number of calls to the host in a run; undefined if the run failed or was killed. */
export function countCalls(lines: readonly DriverLine[]): number | undefined {
  return lines.find(({ ended }) => ended !== undefined)?.ended
}

/** Removes hyperkube's own services from a plan, because other suites test them. */
export function withoutOwnServices(fullPlan: NodePlan): NodePlan {
  const components = fullPlan.components
    .filter(({ name }) => name !== 'apiserver-proxy' && name !== 'hyperkube-controller-manager')
    .map((component): ComponentPlan => {
      const artifacts = component.artifacts.map((one) =>
        one.from === 'url' ? one : { ...one, version: '0.0.0' },
      )
      return component.name === 'hyperkube-agent'
        ? { ...component, artifacts, service: undefined }
        : component
    })
  return { ...fullPlan, components }
}
