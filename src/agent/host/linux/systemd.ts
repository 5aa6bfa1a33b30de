import type { RunCommand } from '../command.ts'
import type { LinuxServiceManager, UnitState } from '../service-manager.ts'

const properties = [
  'LoadState',
  'ActiveState',
  'SubState',
  'Result',
  'ExecMainStatus',
  'NRestarts',
  'MainPID',
  'InvocationID',
  'Job',
  'UnitFileState',
  'NeedDaemonReload',
  'Type',
] as const

const show = ['systemctl', 'show', `--property=${properties.join(',')}`] as const

export function createSystemd(command: RunCommand): LinuxServiceManager {
  const runSystemctl = async (...args: readonly string[]): Promise<void> => {
    await command(['systemctl', '--no-ask-password', ...args])
  }
  return {
    reload: async () => runSystemctl('daemon-reload'),
    async show(unit) {
      const { stdout } = await command([...show, unit])
      return parseUnitState(stdout)
    },
    async showAll(units) {
      if (units.length === 0) return []
      const { stdout } = await command([...show, ...units])
      return stdout.trim().split('\n\n').map(parseUnitState)
    },
    // `--no-reload` is set, because a reload is the slowest of these calls. The caller reloads systemd with
    // `reload`.
    enable: async (units) => runSystemctl('enable', '--quiet', '--no-reload', ...units),
    disable: async (unit) => runSystemctl('disable', '--quiet', unit),
    start: async (unit) => runSystemctl('start', '--no-block', unit),
    restart: async (unit) => runSystemctl('restart', '--no-block', unit),
    startAll: async (action, units) => runSystemctl(action, '--no-block', ...units),
    async stop(unit) {
      // Exit code 5: the unit does not exist.
      await command(['systemctl', 'stop', '--no-block', unit], { codes: [0, 5] })
    },
    async kill(unit) {
      // Exit code 1: the unit has no more processes.
      await command(['systemctl', 'kill', '--signal=SIGKILL', unit], { codes: [0, 1] })
    },
    async killMain(unit, signal = 'SIGKILL') {
      // `--kill-who` is the older name of the option; newer versions accept it too. Exit code 1: the process
      // has already ended.
      await command(['systemctl', 'kill', '--kill-who=main', `--signal=${signal}`, unit], { codes: [0, 1] })
    },
    async forget(unit) {
      // Exit code 1: the unit is not loaded.
      await command(['systemctl', 'reset-failed', unit], { codes: [0, 1] })
    },
    async lines(unit, count) {
      const argv = [
        'journalctl',
        '--no-pager',
        '--quiet',
        '--output=cat',
        `--lines=${count}`,
        `--unit=${unit}`,
      ] as const
      const { stdout } = await command(argv)
      return stdout.split('\n').filter((line) => line !== '')
    },
  }
}

/** Parses the Name=value lines of `systemctl show`. */
export function parseUnitState(text: string): UnitState {
  const values = new Map(
    text.split('\n').map((line) => {
      const separator = line.indexOf('=')
      return [line.slice(0, separator), line.slice(separator + 1)] as const
    }),
  )
  const value = (name: (typeof properties)[number]): string => values.get(name) ?? ''
  return {
    load: value('LoadState'),
    active: value('ActiveState'),
    sub: value('SubState'),
    result: value('Result'),
    status: Number(value('ExecMainStatus')),
    restarts: Number(value('NRestarts')),
    pid: Number(value('MainPID')),
    invocation: value('InvocationID'),
    // Without a job the value is missing, empty or 0, depending on the systemd version.
    busy: !['', '0'].includes(value('Job')),
    enabled: value('UnitFileState') === 'enabled',
    needsReload: value('NeedDaemonReload') === 'yes',
    type: value('Type'),
  }
}
