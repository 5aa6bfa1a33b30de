import { bareComponent, type ComponentPlan } from '../../src/contract/component-plan.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'

/** Of the agent that a host has: its release, and its unit as it is there. */
export interface AgentOnHost {
  readonly version: string
  readonly unit: string
}

/** A plan of the agent itself and of services that are nothing but their unit: name and text. */
export function smallPlan(
  host: string,
  agent: AgentOnHost,
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
        ...component('hyperkube-agent', unit),
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
      ...Object.entries(services).map(([name, text]) => component(name, text)),
    ],
  }
}

function component(name: string, unit: string): ComponentPlan {
  return {
    ...bareComponent(),
    name,
    stage: 'prepare',
    service: { supervisor: 'systemd', name: `${name}.service`, unit },
  }
}
