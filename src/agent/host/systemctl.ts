import type { Command } from './command.ts'
import type { Systemd, UnitState } from './systemd.ts'

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
  'Type',
] as const

const show = ['systemctl', 'show', `--property=${properties.join(',')}`] as const

export function systemctl(command: Command): Systemd {
  const ask = async (...words: readonly string[]): Promise<void> => {
    await command(['systemctl', '--no-ask-password', ...words])
  }
  return {
    reload: async () => ask('daemon-reload'),
    async show(unit) {
      const { stdout } = await command([...show, unit])
      return stateFrom(stdout)
    },
    async showAll(units) {
      if (units.length === 0) return []
      const { stdout } = await command([...show, ...units])
      return stdout.trim().split('\n\n').map(stateFrom)
    },
    // To read all units again costs more than all the rest, so that is asked for once and apart.
    enable: async (units) => ask('enable', '--quiet', '--no-reload', ...units),
    disable: async (unit) => ask('disable', '--quiet', unit),
    start: async (unit) => ask('start', '--no-block', unit),
    restart: async (unit) => ask('restart', '--no-block', unit),
    async stop(unit) {
      // 5: there is no such unit.
      await command(['systemctl', 'stop', '--no-block', unit], { codes: [0, 5] })
    },
    async kill(unit) {
      // 1: it has ended meanwhile.
      await command(['systemctl', 'kill', '--signal=SIGKILL', unit], { codes: [0, 1] })
    },
    async killMain(unit) {
      // The older spelling of the option, which newer ones know as well. 1: it has ended meanwhile.
      await command(['systemctl', 'kill', '--kill-who=main', '--signal=SIGKILL', unit], { codes: [0, 1] })
    },
    async forget(unit) {
      // 1: there is no such unit in memory any more.
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

/** From lines of Name=value, as `systemctl show` writes them. */
export function stateFrom(text: string): UnitState {
  const values = new Map(
    text.split('\n').map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)] as const
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
    // Without one it is missing, empty or 0, as the version of systemd has it.
    busy: !['', '0'].includes(value('Job')),
    enabled: value('UnitFileState') === 'enabled',
    type: value('Type'),
  }
}
