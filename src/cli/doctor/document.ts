import { catalogue } from '../../error-codes/error-codes.ts'
import type { Diagnosis } from '../../lifecycle/doctor/diagnosis.ts'

/** A diagnosis with what its code means. */
export interface DoctorFinding extends Diagnosis {
  readonly meaning: string
}

/** For programs. Fields come, and do not change their meaning. */
export interface DoctorDocument {
  readonly apiVersion: 'hyperkube.dev/v1'
  readonly kind: 'Doctor'
  readonly cluster: string
  readonly at: string
  /** Whether nothing is wrong; warnings alone are nothing wrong. */
  readonly well: boolean
  /** Causes first, each with what follows from it behind it. */
  readonly findings: readonly DoctorFinding[]
}

export function doctorDocument(cluster: string, at: Date, diagnoses: readonly Diagnosis[]): DoctorDocument {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Doctor',
    cluster,
    at: at.toISOString(),
    well: diagnoses.every(({ severity }) => severity === 'warning'),
    findings: diagnoses.map((one) => ({ ...one, meaning: meaningOf(one.code) })),
  }
}

function meaningOf(code: string): string {
  const entry = Object.hasOwn(catalogue, code) ? catalogue[code] : undefined
  return entry?.meaning ?? entry?.summary ?? ''
}
