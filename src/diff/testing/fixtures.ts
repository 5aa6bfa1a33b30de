import { emptyComponent, type ComponentPlan, type PlannedFile } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'

/** Builds a component for tests, with defaults for all fields that are not given. */
export function buildComponent(
  overrides: Pick<ComponentPlan, 'name'> & Partial<ComponentPlan>,
): ComponentPlan {
  return { stage: 'node', ...emptyComponent(), ...overrides }
}

export function buildPlan(...components: readonly ComponentPlan[]): NodePlan {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'NodePlan',
    cluster: { name: 'x', id: '2f8f3a52-6f0e-4d0c-9f57-4c8a9f0d1e11' },
    host: 'a',
    address: '192.0.2.1',
    os: 'linux',
    arch: 'amd64',
    roles: ['worker'],
    components: [...components],
  }
}

export function buildFile(path: string, text: string, restart = true): PlannedFile {
  return { path, owner: 'root', mode: '0600', content: { kind: 'text', text }, restart }
}

export function buildArtifact(name: string, version: string): ComponentPlan['artifacts'][number] {
  return {
    from: 'url',
    name,
    version,
    url: `https://example.org/${name}-${version}`,
    sha256: version.padStart(64, '0').replaceAll('.', 'a'),
    directory: `/opt/${name}-${version}`,
    unpack: { kind: 'program', as: name },
  }
}

export function buildUnit(name: string, unit: string): ComponentPlan['service'] {
  return { supervisor: 'systemd', name: `${name}.service`, unit }
}
