import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'

const component = 'hyperkube-agent'

/** Hosts that are there, and whose agents do not answer or cannot say how it is. */
export function silentAgents({ hosts }: Look): Diagnosis[] {
  return hosts.flatMap(({ place: { host, os }, away, agent, version, services, logs }): Diagnosis[] => {
    if (away !== undefined) return []
    if (agent.state === 'silent') {
      const isThere = version !== undefined
      const unit = services.find(({ name }) => name === component)
      return [
        {
          code: 'AGENT_SILENT',
          severity: 'error',
          what: isThere ? `the agent of ${host} does not answer` : `there is no hyperkube on ${host}`,
          host,
          component,
          evidence: [
            agent.reason,
            ...(unit === undefined
              ? []
              : [
                  `${os === 'windows' ? 'the manager of services' : 'systemd'}: ${component} is ${unit.state}, restarted ${unit.restarts} times`,
                ]),
            ...(logs.get(component) ?? []),
          ],
          command: isThere ? commandFor({ code: 'AGENT_SILENT', host, os }) : `hyperkube up --limit ${host}`,
          needsPerson: !isThere || unit?.state === 'stopped' || unit?.state === 'missing',
        },
      ]
    }
    if (agent.health !== undefined) return []
    return [
      {
        code: 'AGENT_NO_HEALTH',
        severity: 'warning',
        what: `the agent of ${host} is too old to say how its host is`,
        host,
        component,
        evidence: [`it is of hyperkube ${agent.version}`],
        command: commandFor({ code: 'AGENT_NO_HEALTH', host }),
        needsPerson: true,
      },
    ]
  })
}
