import { array, assert, asyncProperty, boolean, constant, nat, oneof, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { NodePlan } from '../../contract/node-plan.ts'
import { buildComponent, buildFile } from '../../diff/testing/fixtures.ts'
import { readAppliedPlan } from '../records/state-file.ts'
import { withCrash } from '../apply/testing/crash-injection.ts'
import { applyAndListOps, buildPlanWithHost } from '../apply/testing/fixtures.ts'
import { createTemporaryHost } from '../host/testing/temporary-host.ts'
import { minute, provisionalUntil, startRollbackAgent } from './testing/rollback-host.ts'

const setting = '/etc/hyperkube/kubelet.conf'

function planWith(text: string): NodePlan {
  return buildPlanWithHost(buildComponent({ name: 'kubelet', files: [buildFile(setting, text)] }))
}

const [before, tried] = [planWith('before'), planWith('tried')]

/** Events that can happen to a host and its operators, one after the other. */
const hostEvent = oneof(
  record({ what: constant('wait' as const), minutes: nat(20) }),
  record({ what: constant('restart' as const) }),
  /** The agent is killed during its check. */
  record({ what: constant('kill' as const), ends: nat(80) }),
  /**
   * An operator starts a provisional change for some minutes. The plan may be applied only partly, and the
   * operator lock may stay unreleased.
   */
  record({
    what: constant('try' as const),
    minutes: nat(30),
    slot: nat(4),
    whole: boolean(),
    released: boolean(),
  }),
  record({ what: constant('move' as const), minutes: nat(30) }),
  record({ what: constant('keep' as const) }),
)

test('after any events, a provisional change is either confirmed or rolled back', async () => {
  await assert(
    asyncProperty(array(hostEvent, { maxLength: 8 }), async (events) => {
      await using host = await createTemporaryHost()
      await applyAndListOps(host, before)
      let agent = await startRollbackAgent(host)
      /** Plan expected at the end; undefined before the first provisional change. */
      let expectedPlan: NodePlan | undefined
      let generation = 0
      const { id } = provisionalUntil(0)
      const later = (minutes: number): number => host.clock.time + minutes * minute
      const isActive = async (): Promise<boolean> => (await agent.work.provisional())?.state === 'provisional'
      for (const event of events) {
        switch (event.what) {
          case 'wait':
            host.clock.time = later(event.minutes)
            await agent.check()
            break
          case 'restart':
            agent = await startRollbackAgent(host)
            break
          case 'kill': {
            const crashingAgent = await startRollbackAgent(
              host,
              withCrash(host, { calls: 0, ends: event.ends }),
            )
            host.clock.time = later(10)
            await crashingAgent.check().catch(() => undefined)
            agent = await startRollbackAgent(host)
            break
          }
          case 'try': {
            const claim = { holder: 'ana', generation: ++generation }
            await agent.claims.acquire(claim, true, false)
            if (!(await isActive())) expectedPlan = await readAppliedPlan(host)
            await agent.work.beginProvisional(
              provisionalUntil(later(event.minutes), event.slot * minute, tried),
            )
            await applyAndListOps(host, tried, { through: event.whole ? 'network' : 'prepare' })
            if (event.released) await agent.claims.release(claim)
            break
          }
          case 'move':
            await agent.work.moveProvisional(id, new Date(later(event.minutes)).toISOString())
            break
          default:
            await agent.work.confirmProvisional(id)
        }
      }
      const wasActive = await isActive()
      const text = async () => (await host.files.read(setting))?.toString('utf8')
      const textBefore = await text()
      // Advances the clock past every deadline: first by the longest provisional time, then by the longest
      // delay and the minute after which the operator lock times out.
      host.clock.time = later(30)
      await agent.check()
      host.clock.time = later(4 + 1)
      await agent.check()
      expect(await isActive()).toBe(false)
      expect(await text()).toBe(wasActive ? textIn(expectedPlan) : textBefore)
    }),
  )
})

function textIn(plan: NodePlan | undefined): string | undefined {
  const file = plan?.components.flatMap(({ files }) => files).find(({ path }) => path === setting)
  return file?.content.kind === 'text' ? file.content.text : undefined
}
