import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict'
import type { LinuxHost } from '../host.ts'

type ContractHost = Pick<LinuxHost, 'files' | 'users' | 'kernel' | 'services' | 'layout' | 'clock'>

export interface LinuxHostCheck {
  readonly name: string
  readonly check: (host: ContractHost) => Promise<void>
}

const unit = 'hyperkube-contract.service'
const user = 'hyperkube-contract'
const setting = 'net.ipv4.ip_forward'
const unitText =
  '[Service]\nType=exec\nExecStart=/bin/sleep infinity\n\n[Install]\nWantedBy=multi-user.target\n'

/** Checks that both the real Linux host and the fakes must pass. Each check removes what it has created. */
export const linuxHostContract: readonly LinuxHostCheck[] = [
  {
    name: 'root exists, and a user that was not created does not',
    check: async ({ users }) => {
      notEqual(await users.find('root'), undefined)
      equal(await users.find(user), undefined)
    },
  },
  {
    name: 'a created user is found, cannot be created again, and can be removed',
    check: async ({ users }) => {
      await users.create(user)
      try {
        notEqual(await users.find(user), undefined)
        await rejects(users.create(user))
      } finally {
        await users.remove(user)
      }
      equal(await users.find(user), undefined)
      await users.remove(user)
    },
  },
  {
    name: 'a kernel setting has the value that was written last; an unknown setting cannot be written',
    check: async ({ kernel }) => {
      const before = (await kernel.readSetting(setting)) ?? ''
      match(before, /^[01]$/)
      const opposite = before === '0' ? '1' : '0'
      await kernel.writeSetting(setting, opposite)
      equal(await kernel.readSetting(setting), opposite)
      await kernel.writeSetting(setting, before)
      equal(await kernel.readSetting('net.hyperkube.contract'), undefined)
      await rejects(kernel.writeSetting('net.hyperkube.contract', '1'))
    },
  },
  {
    name: 'a unit is known after a reload, runs when started, and is removed with its file',
    check: async (host) => {
      const { services, files, layout } = host
      const shown = async () => {
        const { load, active, enabled } = await services.show(unit)
        return { load, active, enabled }
      }
      deepEqual(await shown(), { load: 'not-found', active: 'inactive', enabled: false })
      await rejects(services.start(unit))
      await services.stop(unit)
      const root = (await host.users.find('root')) ?? { uid: 0, gid: 0 }
      await files.write(`${layout.units}/${unit}`, Buffer.from(unitText), { ...root, mode: 0o644 })
      try {
        await services.enable([unit])
        await services.reload()
        deepEqual(await shown(), { load: 'loaded', active: 'inactive', enabled: true })
        const [missing, same] = await services.showAll(['hyperkube-missing.service', unit])
        deepEqual([missing?.load, same], ['not-found', await services.show(unit)])
        await services.start(unit)
        await waitForState(host, 'active')
        const first = await services.show(unit)
        await services.start(unit)
        equal((await services.show(unit)).invocation, first.invocation)
        await services.restart(unit)
        await waitForState(host, 'active', first.invocation)
        await services.stop(unit)
        await waitForState(host, 'inactive')
        await services.start(unit)
        await waitForState(host, 'active')
        await services.kill(unit)
        await waitForState(host, 'failed')
        await services.kill(unit)
        await services.start(unit)
        await waitForState(host, 'active')
        await services.killMain(unit)
        await waitForState(host, 'failed')
        await services.killMain(unit)
        await services.disable(unit)
        equal((await services.show(unit)).enabled, false)
      } finally {
        await services.stop(unit)
        await files.remove(`${layout.units}/${unit}`)
        await services.reload()
        await services.forget(unit)
      }
      deepEqual(await shown(), { load: 'not-found', active: 'inactive', enabled: false })
    },
  },
]

/**
 * Waits until the unit has this state. If `previous` is given, also waits until the invocation differs from
 * it.
 */
async function waitForState(
  { services, clock }: ContractHost,
  active: string,
  previous?: string,
): Promise<void> {
  const deadline = AbortSignal.timeout(30_000)
  for (;;) {
    const state = await services.show(unit)
    if (state.active === active && !state.busy && (previous === undefined || state.invocation !== previous))
      return
    await clock.pause(50, deadline)
  }
}
