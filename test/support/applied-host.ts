import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Host } from '../../lab/hosts/host.ts'
import type { Finding } from '../../src/contract/finding.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'
import type { Op } from '../../src/contract/op.ts'
import type { Stage } from '../../src/contract/stage.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { secretFiles } from '../../src/identity/secret-files.ts'
import { signRequest } from '../../src/pki/sign.ts'

const directory = '/usr/local/lib/apply-driver'

interface Line {
  readonly event?: {
    readonly what: { readonly type: string; readonly op?: Op; readonly result?: { outcome: string } }
  }
  readonly requests?: Record<string, string>
  readonly diff?: { readonly ops: readonly Op[]; readonly findings: readonly Finding[] }
  readonly report?: readonly { readonly step: string; readonly removed: readonly string[] }[]
  readonly passed?: string
  /** After so many calls of edges. */
  readonly ended?: number
  readonly failure?: { readonly message: string; readonly code?: string; readonly hint?: string }
}

export interface ApplyWish {
  readonly through?: Stage
  readonly dieAt?: number
}

/** A host of the lab on which the agent's hands can be asked to do something. */
export class AppliedHost {
  readonly host: Host
  readonly #identity: Identity

  private constructor(host: Host, identity: Identity) {
    this.host = host
    this.#identity = identity
  }

  /** Node itself and one bundle: a host has neither. */
  static async equip(host: Host, identity: Identity): Promise<AppliedHost> {
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

  /** As an operator does: what the host asks for is signed and sent along. */
  async apply(plan: NodePlan, { through = 'network', dieAt }: ApplyWish = {}): Promise<readonly Line[]> {
    const [asked] = await this.#ask({ ask: 'requests', plan })
    const certificates = await this.#sign(plan, asked?.requests ?? {})
    return this.#ask({ ask: 'apply', plan, through, certificates, secrets: this.#secrets(), dieAt })
  }

  async diff(plan: NodePlan): Promise<NonNullable<Line['diff']>> {
    const lines = await this.#ask({ ask: 'diff', plan })
    const found = lines.find(({ diff }) => diff !== undefined)?.diff
    if (found === undefined) throw new Error(JSON.stringify(lines))
    return found
  }

  async reset({ dieAt }: Pick<ApplyWish, 'dieAt'> = {}): Promise<readonly Line[]> {
    return this.#ask({ ask: 'reset', dieAt })
  }

  async contract(): Promise<readonly Line[]> {
    return this.#ask({ ask: 'contract' })
  }

  async #ask(request: object): Promise<readonly Line[]> {
    const document = { version: '0.0.0', secrets: {}, certificates: {}, ...request }
    const { stdout } = await this.host.exec([`${directory}/node`, `${directory}/driver.cjs`], {
      input: JSON.stringify(document),
      allowFailure: true,
    })
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((line): Line => JSON.parse(line))
  }

  #secrets(): Record<string, string> {
    const files = [...secretFiles(this.#identity, [])]
    return Object.fromEntries(
      files.map(([name, secret]) => [name, Buffer.from(secret.reveal()).toString('base64')]),
    )
  }

  async #sign(plan: NodePlan, requests: Record<string, string>): Promise<Record<string, string>> {
    const { authorities } = this.#identity
    const planned = plan.components.flatMap(({ certificates }) => certificates)
    const signed = Object.entries(requests).map(async ([path, request]) => {
      const wish = planned.find(({ certificateFile }) => certificateFile === path)
      if (wish === undefined) throw new Error(`${path} was not planned`)
      const { authority, subject, names, usages, lifetime } = wish
      const signer = authority === 'front-proxy' ? authorities.frontProxy : authorities[authority]
      return [
        path,
        await signRequest(signer, request, { subject, names, usages, lifetime }, new Date()),
      ] as const
    })
    return Object.fromEntries(await Promise.all(signed))
  }
}

/** The ops that changed something, in words. */
export function doneOps(lines: readonly Line[]): string[] {
  return lines.flatMap(({ event }) => {
    const { op, type, result } = event?.what ?? {}
    return type === 'op-ended' && op !== undefined && result?.outcome === 'done'
      ? [`${op.action} ${op.target} ${op.name}`]
      : []
  })
}

export function failureOf(lines: readonly Line[]): NonNullable<Line['failure']> | undefined {
  return lines.find(({ failure }) => failure !== undefined)?.failure
}

/** After how many calls of edges it ended by itself; nothing when it was killed. */
export function callsOf(lines: readonly Line[]): number | undefined {
  return lines.find(({ ended }) => ended !== undefined)?.ended
}
