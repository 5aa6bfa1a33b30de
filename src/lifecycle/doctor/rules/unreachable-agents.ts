import type { ClusterHealthObservation } from '../../observe/observe-cluster.ts'
import { suggestCommand } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'

const component = 'hyperkube-agent'

/** Finds reachable hosts whose agents do not answer, or are too old to report health. */
export function findUnreachableAgents({ hosts }: ClusterHealthObservation): Diagnosis[] {
  return hosts.flatMap(
    ({ endpoint: { host, os }, unreachable, agent, version, services, logs }): Diagnosis[] => {
      if (unreachable !== undefined) return []
      if (agent.state === 'unreachable') {
        const isInstalled = version !== undefined
        const unit = services.find(({ name }) => name === component)
        return [
          {
            code: 'AGENT_UNREACHABLE',
            severity: 'error',
            what: isInstalled
              ? `the agent of ${host} does not answer`
              : `hyperkube is not installed on ${host}`,
            host,
            component,
            evidence: [
              agent.reason,
              ...(unit === undefined
                ? []
                : [
                    `${os === 'windows' ? 'the service manager' : 'systemd'}: ${component} is ${unit.state}, restarted ${unit.restarts} times`,
                  ]),
              ...(logs.get(component) ?? []),
            ],
            command: isInstalled
              ? suggestCommand({ code: 'AGENT_UNREACHABLE', host, os })
              : `hyperkube up --limit ${host}`,
            needsOperator: !isInstalled || unit?.state === 'stopped' || unit?.state === 'missing',
          },
        ]
      }
      if (agent.health !== undefined) return []
      return [
        {
          code: 'AGENT_NO_HEALTH',
          severity: 'warning',
          what: `the agent of ${host} is too old to report health`,
          host,
          component,
          evidence: [`it has version ${agent.version}`],
          command: suggestCommand({ code: 'AGENT_NO_HEALTH', host }),
          needsOperator: true,
        },
      ]
    },
  )
}
