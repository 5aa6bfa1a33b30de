import { createHash } from 'node:crypto'
import type { ComponentPlan, PlannedArtifact, Stage } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import { buildComponent, buildPlan } from '../../../diff/testing/fixtures.ts'
import { Secret } from '../../../pki/secret.ts'
import type { Host } from '../../host/host.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import { applyPlan } from '../apply.ts'
import type { RunEventBody } from '../../records/run-op.ts'

/** Builds a typical component with a program, a configuration file and a service. */
export function runningComponent(
  name: string,
  version: string,
  more: Partial<ComponentPlan> & { readonly text?: string } = {},
): ComponentPlan {
  const { text = 'one', ...options } = more
  const directory = `/etc/hyperkube/${name}`
  return buildComponent({
    name,
    users: [name],
    directories: [{ path: directory, owner: name, mode: '0700' }],
    artifacts: [buildProgram(name, version)],
    files: [
      {
        path: `${directory}/config`,
        owner: name,
        mode: '0600',
        content: { kind: 'text', text },
        restart: true,
      },
    ],
    service: {
      supervisor: 'systemd',
      name: `${name}.service`,
      unit: `[Service]\nExecStart=/opt/hyperkube/${name}-${version}/${name}\n`,
    },
    ...options,
  })
}

/** The `host` component, which every plan contains. */
export const hostComponent: ComponentPlan = buildComponent({
  name: 'host',
  stage: 'prepare',
  directories: ['/etc/hyperkube', '/var/lib/hyperkube', '/var/log/hyperkube', '/opt/hyperkube'].map(
    (path) => ({
      path,
      owner: 'root',
      mode: '0755',
    }),
  ),
})

export function buildPlanWithHost(...components: readonly ComponentPlan[]): NodePlan {
  return buildPlan(hostComponent, ...components)
}

/** Builds an artifact whose bytes are derived from its name and version. */
export function buildProgram(name: string, version: string): PlannedArtifact {
  const bytes = programBytes(name, version)
  return {
    from: 'url',
    name,
    version,
    url: `https://example.org/${name}-${version}`,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    directory: `/opt/hyperkube/${name}-${version}`,
    unpack: { kind: 'program', as: name },
  }
}

export function programBytes(name: string, version: string): Uint8Array {
  return Buffer.from(`#!/bin/sh\necho ${name} ${version}\n`)
}

/** Serves the programs of a plan from the fake network of its host. */
export function publishPrograms({ remoteFiles }: Pick<TemporaryHost, 'remoteFiles'>, plan: NodePlan): void {
  for (const artifact of plan.components.flatMap(({ artifacts }) => artifacts)) {
    if (artifact.from === 'url' && artifact.unpack.kind === 'program') {
      remoteFiles.set(artifact.url, programBytes(artifact.name, artifact.version))
    }
  }
}

export const someRunId = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const neverAborted = new AbortController().signal

export interface ApplyTestOptions {
  readonly through?: Stage
  readonly secrets?: Readonly<Record<string, string>>
  readonly certificates?: ReadonlyMap<string, string>
  readonly signal?: AbortSignal
}

/** Applies a plan and returns one line per op that ended. */
export async function applyAndListOps(
  host: Host,
  plan: NodePlan,
  options: ApplyTestOptions = {},
): Promise<string[]> {
  const lines: string[] = []
  await applyPlan({
    host,
    plan,
    through: options.through ?? 'network',
    secrets: new Map(
      Object.entries(options.secrets ?? {}).map(([name, text]) => [name, new Secret(name, text)]),
    ),
    certificates: options.certificates ?? new Map(),
    run: someRunId,
    emit: (what) => lines.push(...formatOpEnd(what)),
    signal: options.signal ?? neverAborted,
  })
  return lines
}

function formatOpEnd(what: RunEventBody): string[] {
  if (what.type !== 'op-ended') return []
  const { action, target, name } = what.op
  const line = `${action} ${target} ${name}`
  return [what.result.outcome === 'done' ? line : `${line}: ${what.result.outcome}`]
}
