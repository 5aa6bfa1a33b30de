import { emptyComponent, type ComponentPlan } from '../../src/contract/component-plan.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'

/** Release and unit of the agent on a host. */
export interface InstalledAgent {
  readonly version: string
  readonly unit: string
}

/**
 * Builds a plan with the agent and services that consist only of a unit. `services` maps names to unit texts.
 */
export function buildSmallPlan(
  host: string,
  agent: InstalledAgent,
  services: Readonly<Record<string, string>>,
): NodePlan {
  const { version, unit } = agent
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'NodePlan',
    cluster: { name: 'lab', id: '2f8f3a52-6f0e-4d0c-9f57-4c8a9f0d1e11' },
    host,
    address: '192.0.2.1',
    os: 'linux',
    arch: process.arch === 'arm64' ? 'arm64' : 'amd64',
    roles: ['worker'],
    components: [
      {
        ...buildComponent('hyperkube-agent', unit),
        version,
        directories: [{ path: '/var/lib/hyperkube/agent', owner: 'root', mode: '0700' }],
        artifacts: [
          {
            from: 'this-release',
            name: 'hyperkube',
            version,
            directory: `/opt/hyperkube/hyperkube-${version}`,
          },
        ],
      },
      ...Object.entries(services).map(([name, text]) => buildComponent(name, text)),
    ],
  }
}

function buildComponent(name: string, unit: string): ComponentPlan {
  return {
    ...emptyComponent(),
    name,
    stage: 'prepare',
    service: { supervisor: 'systemd', name: `${name}.service`, unit },
  }
}
