import type { Argv } from '../../kit/command.ts'
import { logRoot, hyperkubeProgram, stateRoot } from '../../plan/linux/paths.ts'

/** A command to run on the host. It changes nothing and does not use the agent. */
export interface HostQuery {
  readonly file: string
  readonly argv: Argv
  readonly format: 'text' | 'json' | 'lines' | 'plan'
}

/**
 * Unit properties to read. Command lines and environments are left out, because they may contain passwords.
 */
const unitProperties = [
  'Id',
  'LoadState',
  'ActiveState',
  'SubState',
  'UnitFileState',
  'Result',
  'NRestarts',
  'ExecMainStatus',
  'ExecMainStartTimestamp',
  'StateChangeTimestamp',
  'MemoryCurrent',
  'CPUUsageNSec',
]

const pressureFiles = ['cpu', 'io', 'memory'].map((name) => `/proc/pressure/${name}`)

export function listHostQueries(host: string, services: readonly string[]): readonly HostQuery[] {
  const units = services.map((name) => `${name}.service`)
  const textQuery = (file: string, ...argv: Argv): HostQuery => ({ file, argv, format: 'text' })
  return [
    { file: 'facts.json', argv: [hyperkubeProgram, 'facts', '--host', host, '-o', 'json'], format: 'json' },
    { file: 'plan.json', argv: ['cat', `${stateRoot}/agent/plan.json`], format: 'plan' },
    {
      file: 'journal.ndjson',
      argv: ['tail', '-n', '3000', `${stateRoot}/agent/journal.ndjson`],
      format: 'lines',
    },
    // Logs that the agent captured before it restarted a component.
    textQuery(
      'captured.log',
      'find',
      `${logRoot}/healing`,
      '-name',
      '*.log',
      '-exec',
      'tail',
      '-v',
      '-n',
      '500',
      '{}',
      '+',
    ),
    textQuery('units.txt', 'systemctl', 'show', `--property=${unitProperties.join(',')}`, ...units),
    textQuery('failed-units.txt', 'systemctl', 'list-units', '--failed', '--no-pager', '--plain'),
    textQuery(
      'load.txt',
      'head',
      '-n',
      '60',
      '/proc/loadavg',
      '/proc/uptime',
      '/proc/meminfo',
      ...pressureFiles,
    ),
    textQuery('disks.txt', 'df', '-hT'),
    textQuery('inodes.txt', 'df', '-i'),
    textQuery('clock.txt', 'timedatectl'),
    textQuery('addresses.txt', 'ip', '-details', 'address'),
    textQuery('routes.txt', 'ip', 'route', 'show', 'table', 'all'),
    textQuery('listeners.txt', 'ss', '-lntup'),
    textQuery('packet-filter.txt', 'nft', 'list', 'tables'),
    textQuery('kernel.log', 'journalctl', '-k', '--priority=warning', '--lines=500', '--no-pager', '--utc'),
  ]
}
