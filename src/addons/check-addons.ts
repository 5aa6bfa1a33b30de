import type { Finding } from '../contract/finding.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Addon } from './addon.ts'
import { describeReference, groupOf, keyOf, referenceOf } from './reference.ts'

/** As a label's value and as part of an object's name. */
const names = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** What is wrong with addons by themselves, and with each other. */
export function checkAddons(addons: readonly Addon[]): Finding[] {
  return [...addons.flatMap(checkName), ...addons.flatMap(checkJobs), ...checkTwice(addons)]
}

/** Fails with the first of them. */
export function refuseWrong(addons: readonly Addon[]): void {
  const [first] = checkAddons(addons)
  if (first === undefined) return
  throw new HyperkubeError(first.code, first.message, first.hint === undefined ? {} : { hint: first.hint })
}

function checkName({ name }: Addon): Finding[] {
  if (names.test(name)) return []
  return [
    {
      code: 'ADDON_NAME',
      severity: 'error',
      message: `${JSON.stringify(name)} is not a name for an addon`,
      hint: 'lower-case letters, digits and dashes, at most 63 of them',
    },
  ]
}

/** A Job is done once: there is no state that it keeps, so that putting it there again would mean nothing, or too much. */
function checkJobs({ name, manifests }: Addon): Finding[] {
  return manifests
    .map(referenceOf)
    .filter(({ apiVersion, kind }) => kind === 'Job' && groupOf(apiVersion) === 'batch')
    .map((job) => ({
      code: 'ADDON_JOB',
      severity: 'error',
      message: `addon ${name}: ${describeReference(job)}: an addon has no Jobs`,
      hint: 'make it an init container of the workload that needs it, or a CronJob',
    }))
}

function checkTwice(addons: readonly Addon[]): Finding[] {
  const all = addons.flatMap(({ name, manifests }) =>
    manifests.map(referenceOf).map((reference) => ({ name, reference })),
  )
  const same = Map.groupBy(all, ({ reference }) => keyOf(reference))
  return [...same.values()].flatMap(([first, ...others]) => {
    if (first === undefined || others.length === 0) return []
    const wishing = [...new Set([first, ...others].map(({ name }) => name))].join(' and ')
    return [
      {
        code: 'ADDON_OBJECT_TWICE',
        severity: 'error' as const,
        message: `${describeReference(first.reference)} is in ${others.length + 1} manifests, of addon ${wishing}`,
        hint: 'leave it in one of them',
      },
    ]
  })
}
