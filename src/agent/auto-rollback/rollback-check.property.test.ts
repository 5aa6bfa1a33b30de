import { array, assert, asyncProperty, boolean, constant, nat, oneof, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { NodePlan } from '../../contract/node-plan.ts'
import { componentOf, fileOf } from '../../diff/testing/fixtures.ts'
import { applied, hostPlan } from '../apply/testing/fixtures.ts'
import { mortal } from '../apply/testing/crash-injection.ts'
import { lastPlan } from '../apply/applied-plan.ts'
import { temporaryHost } from '../host/testing/temporary-host.ts'
import { agentOf, minute, trialUntil } from './testing/rollback-host.ts'

const setting = '/etc/hyperkube/kubelet.conf'

function planWith(text: string): NodePlan {
  return hostPlan(componentOf({ name: 'kubelet', files: [fileOf(setting, text)] }))
}

const [before, tried] = [planWith('before'), planWith('tried')]

/** What can happen to a host and to those who work on it, one after the other. */
const happening = oneof(
  record({ what: constant('wait' as const), minutes: nat(20) }),
  record({ what: constant('restart' as const) }),
  /** An agent that is killed over its look. */
  record({ what: constant('kill' as const), ends: nat(80) }),
  /** Somebody tries it, for some minutes; and does or does not get to the end of that, or say goodbye. */
  record({
    what: constant('try' as const),
    minutes: nat(30),
    slot: nat(4),
    whole: boolean(),
    goodbye: boolean(),
  }),
  record({ what: constant('move' as const), minutes: nat(30) }),
  record({ what: constant('keep' as const) }),
)

test('whatever happens to a host and in which order, what was tried is kept or gone in the end', async () => {
  await assert(
    asyncProperty(array(happening, { maxLength: 8 }), async (course) => {
      await using host = await temporaryHost()
      await applied(host, before)
      let agent = await agentOf(host)
      /** What it shall be in the end; undefined as long as nothing is on trial. */
      let back: NodePlan | undefined
      let generation = 0
      const { id } = trialUntil(0)
      const later = (minutes: number): number => host.clock.time + minutes * minute
      const isOn = async (): Promise<boolean> => (await agent.work.trial())?.state === 'on-trial'
      for (const event of course) {
        switch (event.what) {
          case 'wait':
            host.clock.time = later(event.minutes)
            await agent.look()
            break
          case 'restart':
            agent = await agentOf(host)
            break
          case 'kill': {
            const doomed = await agentOf(host, mortal(host, { calls: 0, ends: event.ends }))
            host.clock.time = later(10)
            await doomed.look().catch(() => undefined)
            agent = await agentOf(host)
            break
          }
          case 'try': {
            const claim = { holder: 'ana', generation: ++generation }
            await agent.claims.take(claim, true, false)
            if (!(await isOn())) back = await lastPlan(host)
            await agent.work.beginTrial(trialUntil(later(event.minutes), event.slot * minute, tried))
            await applied(host, tried, { through: event.whole ? 'network' : 'prepare' })
            if (event.goodbye) await agent.claims.release(claim)
            break
          }
          case 'move':
            await agent.work.moveTrial(id, new Date(later(event.minutes)).toISOString())
            break
          default:
            await agent.work.keepTrial(id)
        }
      }
      const wasOn = await isOn()
      const text = async () => (await host.files.read(setting))?.toString('utf8')
      const stays = await text()
      // The longest time, the longest slot, and the minute in which somebody could be heard of once more.
      host.clock.time = later(30)
      await agent.look()
      host.clock.time = later(4 + 1)
      await agent.look()
      expect(await isOn()).toBe(false)
      expect(await text()).toBe(wasOn ? textIn(back) : stays)
    }),
  )
})

function textIn(plan: NodePlan | undefined): string | undefined {
  const file = plan?.components.flatMap(({ files }) => files).find(({ path }) => path === setting)
  return file?.content.kind === 'text' ? file.content.text : undefined
}
