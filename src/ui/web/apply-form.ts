import { useSignal } from '@preact/signals'
import { h, type ComponentChild } from 'preact'
import type { AppliedPlan, ViewResult } from '../views.ts'
import { command, notice } from './parts.ts'
import { formatRoute } from './route.ts'
import type { ApplyPlan } from './store.ts'

interface ApplyFormProps {
  readonly cluster: string
  readonly digest: string
  readonly apply: ApplyPlan
  /** True while a newer plan is read, which will replace this one. */
  readonly isOutdated: boolean
}

/** Applies the shown plan after the operator has typed the name of the cluster. Then opens the run. */
export function ApplyForm({ cluster, digest, apply, isOutdated }: ApplyFormProps): ComponentChild {
  const result = useSignal<ViewResult<AppliedPlan> | undefined>(undefined)
  const isSending = useSignal(false)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (!(event.target instanceof HTMLFormElement) || isSending.value || isOutdated) return
    isSending.value = true
    const typed = new FormData(event.target).get('confirm')
    try {
      result.value = await apply(cluster, digest, typeof typed === 'string' ? typed.trim() : '')
      if (result.value.state !== 'read') return
      const { run } = result.value.document
      location.hash = formatRoute({ cluster, page: 'runs', ...(run === undefined ? {} : { item: run }) })
    } finally {
      isSending.value = false
    }
  }
  const failure = result.value?.state === 'failed' ? result.value.failure : undefined
  return h(
    'form',
    { class: 'search', onSubmit: (event: SubmitEvent) => void submit(event) },
    h(
      'label',
      null,
      `To apply exactly this plan, type ${cluster}: `,
      h('input', { name: 'confirm', autoComplete: 'off', required: true }),
    ),
    h('button', { type: 'submit', disabled: isSending.value || isOutdated }, 'Apply'),
    failure === undefined
      ? null
      : notice(
          'error',
          failure.code,
          h('p', { class: 'lines' }, failure.message),
          failure.hint === undefined ? null : command(failure.hint),
        ),
  )
}
