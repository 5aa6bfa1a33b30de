import { errorCodes } from '../../error-codes/error-codes.ts'
import type { Diagnosis } from '../../lifecycle/doctor/diagnosis.ts'

/** A diagnosis with the meaning of its code. */
export interface DoctorFinding extends Diagnosis {
  readonly meaning: string
}

/** Output for programs. New fields may be added, but existing fields keep their meaning. */
export interface DoctorDocument {
  readonly apiVersion: 'hyperkube.dev/v1'
  readonly kind: 'Doctor'
  readonly cluster: string
  readonly at: string
  /** True if there are no errors; warnings do not count. */
  readonly healthy: boolean
  /** Causes first, each followed by its effects. */
  readonly findings: readonly DoctorFinding[]
}

export function buildDoctorDocument(
  cluster: string,
  at: Date,
  diagnoses: readonly Diagnosis[],
): DoctorDocument {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Doctor',
    cluster,
    at: at.toISOString(),
    healthy: diagnoses.every(({ severity }) => severity === 'warning'),
    findings: diagnoses.map((diagnosis) => ({ ...diagnosis, meaning: findMeaning(diagnosis.code) })),
  }
}

function findMeaning(code: string): string {
  const entry = Object.hasOwn(errorCodes, code) ? errorCodes[code] : undefined
  return entry?.meaning ?? entry?.summary ?? ''
}
