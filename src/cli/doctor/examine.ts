import type { Place } from '../../lifecycle/host-endpoints.ts'
import type { Diagnosis } from '../../lifecycle/doctor/diagnosis.ts'
import { diagnose } from '../../lifecycle/doctor/diagnose.ts'
import { type LookOptions, lookAround, type Sights } from '../../lifecycle/observe/observe-cluster.ts'

/** Looks at everything anew, and says what is wrong. */
export async function examine(
  places: readonly Place[],
  sights: Sights,
  options: Pick<LookOptions, 'only' | 'now' | 'signal'>,
): Promise<{ readonly at: Date; readonly diagnoses: readonly Diagnosis[] }> {
  const look = await lookAround(places, sights, { ...options, fresh: true, deep: true, certificates: false })
  const { only } = options
  const diagnoses = diagnose(look).filter(
    ({ host }) => host === undefined || only === undefined || only.has(host),
  )
  return { at: look.at, diagnoses }
}
