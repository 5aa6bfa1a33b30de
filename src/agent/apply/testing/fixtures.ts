import { createHash } from 'node:crypto'
import type { ComponentPlan, PlannedArtifact } from '../../../contract/component-plan.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Stage } from '../../../contract/stage.ts'
import { componentOf, planOf } from '../../../diff/testing/fixtures.ts'
import { Secret } from '../../../pki/secret.ts'
import type { Host } from '../../host/host.ts'
import type { TemporaryHost } from '../../host/testing/temporary-host.ts'
import { apply } from '../apply.ts'
import type { Told } from '../emit-run-event.ts'

/** For tests: a component as most are, with a program, a configuration and a service. */
export function running(
  name: string,
  version: string,
  more: Partial<ComponentPlan> & { readonly text?: string } = {},
): ComponentPlan {
  const { text = 'one', ...wish } = more
  const directory = `/etc/hyperkube/${name}`
  return componentOf({
    name,
    users: [name],
    directories: [{ path: directory, owner: name, mode: '0700' }],
    artifacts: [programOf(name, version)],
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
    ...wish,
  })
}

/** What the host itself has in every plan. */
export const hostComponent: ComponentPlan = componentOf({
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

export function hostPlan(...components: readonly ComponentPlan[]): NodePlan {
  return planOf(hostComponent, ...components)
}

/** Its bytes are its name and version. */
export function programOf(name: string, version: string): PlannedArtifact {
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

/** Puts the programs of a plan where its host finds them. */
export function publish({ world }: TemporaryHost, plan: NodePlan): void {
  for (const artifact of plan.components.flatMap(({ artifacts }) => artifacts)) {
    if (artifact.from === 'url' && artifact.unpack.kind === 'program') {
      world.set(artifact.url, programBytes(artifact.name, artifact.version))
    }
  }
}

export const someRun = '7c1f6b0e-5a0e-4d52-9f6b-8f3f0a1f2c3d'
const never = new AbortController().signal

export interface ApplyWish {
  readonly through?: Stage
  readonly secrets?: Readonly<Record<string, string>>
  readonly certificates?: ReadonlyMap<string, string>
  readonly signal?: AbortSignal
}

/** Applies a plan and answers with what was told. */
export async function applied(host: Host, plan: NodePlan, wish: ApplyWish = {}): Promise<string[]> {
  const told: string[] = []
  await apply({
    host,
    plan,
    through: wish.through ?? 'network',
    secrets: new Map(
      Object.entries(wish.secrets ?? {}).map(([name, text]) => [name, new Secret(name, text)]),
    ),
    certificates: wish.certificates ?? new Map(),
    run: someRun,
    emit: (what) => told.push(...lineOf(what)),
    signal: wish.signal ?? never,
  })
  return told
}

function lineOf(what: Told): string[] {
  if (what.type !== 'op-ended') return []
  const { action, target, name } = what.op
  const line = `${action} ${target} ${name}`
  return [what.result.outcome === 'done' ? line : `${line}: ${what.result.outcome}`]
}
