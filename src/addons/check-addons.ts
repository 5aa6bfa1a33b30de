import type { Finding } from '../contract/finding.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Addon } from './addon.ts'
import { describeReference, parseGroup, formatReferenceKey, toReference } from './reference.ts'

/** Valid names of addons. A name is used as a label value and as part of an object name. */
const namePattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Checks the name and the Jobs of each addon, and finds objects that several addons contain. */
export function checkAddons(addons: readonly Addon[]): Finding[] {
  return [...addons.flatMap(checkName), ...addons.flatMap(checkJobs), ...checkDuplicates(addons)]
}

/** Throws the first finding of checkAddons. */
export function assertValidAddons(addons: readonly Addon[]): void {
  const [first] = checkAddons(addons)
  if (first === undefined) return
  throw new HyperkubeError(first.code, first.message, first.hint === undefined ? {} : { hint: first.hint })
}

function checkName({ name }: Addon): Finding[] {
  if (namePattern.test(name)) return []
  return [
    {
      code: 'ADDON_NAME',
      severity: 'error',
      message: `${JSON.stringify(name)} is not a valid addon name`,
      hint: 'use at most 63 lower-case letters, digits and dashes',
    },
  ]
}

/**
 * Refuses Jobs in addons, because applying a Job again does not run it again. If the Job was deleted,
 * applying it runs it a second time.
 */
function checkJobs({ name, manifests }: Addon): Finding[] {
  return manifests
    .map(toReference)
    .filter(({ apiVersion, kind }) => kind === 'Job' && parseGroup(apiVersion) === 'batch')
    .map((job) => ({
      code: 'ADDON_JOB',
      severity: 'error',
      message: `addon ${name}: ${describeReference(job)}: an addon must not contain Jobs`,
      hint: 'use an init container of the workload that needs it, or a CronJob',
    }))
}

function checkDuplicates(addons: readonly Addon[]): Finding[] {
  const all = addons.flatMap(({ name, manifests }) =>
    manifests.map(toReference).map((reference) => ({ name, reference })),
  )
  const byKey = Map.groupBy(all, ({ reference }) => formatReferenceKey(reference))
  return [...byKey.values()].flatMap(([first, ...others]) => {
    if (first === undefined || others.length === 0) return []
    const addonNames = [...new Set([first, ...others].map(({ name }) => name))].join(' and ')
    return [
      {
        code: 'ADDON_OBJECT_DUPLICATE',
        severity: 'error' as const,
        message: `${describeReference(first.reference)} is in ${others.length + 1} manifests, of addon ${addonNames}`,
        hint: 'keep it in one manifest',
      },
    ]
  })
}
