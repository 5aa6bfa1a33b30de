import type { Event } from '../../contract/event.ts'
import type { FleetRun } from '../../fleet/fleet-run.ts'
import type { RolloutEvent } from '../../fleet/run-rollout.ts'
import { formatCount } from '../../kit/text.ts'
import type { StepResult } from '../../lifecycle/agents/event-stream.ts'
import type { RunReporter } from '../run/run-with-progress.ts'

/** Shows a rollout as steps, one for each wave, with clusters in place of hosts. */
export interface RolloutProgress {
  readonly report: (event: RolloutEvent) => void
  /** Logs an event of a cluster, and shows what the cluster does. */
  readonly onClusterEvent: (cluster: string, event: Event) => void
}

export function createRolloutProgress(
  { waves }: FleetRun,
  { emit, record }: Pick<RunReporter, 'emit' | 'record'>,
  now: () => Date,
): RolloutProgress {
  emit({
    type: 'steps-planned',
    steps: waves.map(({ title, clusters }, index) => ({
      step: nameStep(index),
      title: `wave ${index + 1} of ${waves.length} (${title}): ${formatCount(clusters.length, 'cluster')}`,
      hosts: [...clusters],
    })),
  })
  const wait = (condition: string, cluster?: string): void =>
    emit(
      { type: 'waiting', for: condition, since: now().toISOString() },
      cluster === undefined ? {} : { host: cluster },
    )
  return {
    report: (event) => reportRolloutEvent(event, emit, wait),
    onClusterEvent(cluster, event) {
      const { body, host } = event
      record({ ...event, host: host === undefined ? cluster : `${cluster}/${host}` })
      if (body.type === 'op-started' || body.type === 'op-ended')
        emit(body, { host: cluster, component: body.op.component })
      if (body.type === 'steps-planned' && body.steps[0] !== undefined)
        wait(`the step: ${body.steps[0].title}`, cluster)
    },
  }
}

function nameStep(wave: number): string {
  return `wave-${wave + 1}`
}

function reportRolloutEvent(
  event: RolloutEvent,
  emit: RunReporter['emit'],
  wait: (condition: string, cluster?: string) => void,
): void {
  const step = nameStep(event.wave)
  switch (event.type) {
    case 'wave-started':
      emit({ type: 'step-started', step })
      return
    case 'wave-ended':
      emit({ type: 'step-ended', step, result: toWaveResult(event.isPassed) })
      return
    case 'gate-started':
      wait('until the clusters of the wave are as healthy as before')
      return
    case 'pause-started':
      wait('the pause between two waves')
      return
    case 'cluster-started':
      emit({ type: 'step-started', step }, { host: event.cluster })
      return
    default: {
      const { state, failure } = event.result
      if (state === 'changed') wait('the health gate of the wave', event.cluster)
      else
        emit({ type: 'step-ended', step, result: toClusterResult(state, failure) }, { host: event.cluster })
    }
  }
}

function toWaveResult(isPassed: boolean): StepResult {
  if (isPassed) return { outcome: 'done' }
  return {
    outcome: 'failed',
    failure: { code: 'FLEET_STOPPED', message: 'clusters failed, so no further cluster was changed' },
  }
}

function toClusterResult(
  state: string,
  failure: Extract<RolloutEvent, { type: 'cluster-ended' }>['result']['failure'],
): StepResult {
  if (failure !== undefined) return { outcome: 'failed', failure }
  return state === 'done' ? { outcome: 'done' } : { outcome: 'interrupted' }
}
