import type { Argv } from '../../kit/command.ts'
import { logs, ownProgram, state } from '../../plan/linux/paths.ts'

/** Something to be asked of a host by a program of its own. It needs no agent, and changes nothing. */
export interface HostQuestion {
  readonly file: string
  readonly argv: Argv
  readonly form: 'text' | 'json' | 'lines' | 'plan'
}

/** Of units; neither what they are started with nor their environment, in which there may be passwords. */
const properties = [
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

const pressures = ['cpu', 'io', 'memory'].map((name) => `/proc/pressure/${name}`)

export function hostQuestions(host: string, services: readonly string[]): readonly HostQuestion[] {
  const units = services.map((name) => `${name}.service`)
  const text = (file: string, ...argv: Argv): HostQuestion => ({ file, argv, form: 'text' })
  return [
    { file: 'facts.json', argv: [ownProgram, 'facts', '--host', host, '-o', 'json'], form: 'json' },
    { file: 'plan.json', argv: ['cat', `${state}/agent/plan.json`], form: 'plan' },
    { file: 'journal.ndjson', argv: ['tail', '-n', '3000', `${state}/agent/journal.ndjson`], form: 'lines' },
    // What agents have captured before they restarted something.
    text(
      'captured.log',
      'find',
      `${logs}/healing`,
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
    text('units.txt', 'systemctl', 'show', `--property=${properties.join(',')}`, ...units),
    text('failed-units.txt', 'systemctl', 'list-units', '--failed', '--no-pager', '--plain'),
    text('load.txt', 'head', '-n', '60', '/proc/loadavg', '/proc/uptime', '/proc/meminfo', ...pressures),
    text('disks.txt', 'df', '-hT'),
    text('inodes.txt', 'df', '-i'),
    text('clock.txt', 'timedatectl'),
    text('addresses.txt', 'ip', '-details', 'address'),
    text('routes.txt', 'ip', 'route', 'show', 'table', 'all'),
    text('listeners.txt', 'ss', '-lntup'),
    text('packet-filter.txt', 'nft', 'list', 'tables'),
    text('kernel.log', 'journalctl', '-k', '--priority=warning', '--lines=500', '--no-pager', '--utc'),
  ]
}
