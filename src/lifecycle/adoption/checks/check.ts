import type { AdoptionItem } from '../adoption-report.ts'
import type { AdoptionObservation } from '../observation.ts'

/** Finds what prevents the adoption of a cluster. */
export type AdoptionCheck = (observation: AdoptionObservation) => readonly AdoptionItem[]

/** Names in messages of the tool that manages the cluster until now. */
export const toolNames = { kubeadm: 'kubeadm', rke1: 'RKE1' } as const
