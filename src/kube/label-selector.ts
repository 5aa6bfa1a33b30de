import { z } from 'zod'

const expression = z.looseObject({
  key: z.string(),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
  values: z.array(z.string()).nullish(),
})
type Expression = z.infer<typeof expression>

/** How objects say which others they are about. */
export const labelSelector = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).nullish(),
  matchExpressions: z.array(expression).nullish(),
})
export type LabelSelector = z.infer<typeof labelSelector>

export type Labels = Readonly<Record<string, string>>

/** Whether it selects an object with these labels. An empty one selects all, and none at all selects nothing. */
export function selects(selector: LabelSelector | null | undefined, labels: Labels = {}): boolean {
  if (selector === undefined || selector === null) return false
  const { matchLabels, matchExpressions } = selector
  return (
    Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (matchExpressions ?? []).every((one) => isTrue(one, labels))
  )
}

function isTrue({ key, operator, values }: Expression, labels: Labels): boolean {
  const value = labels[key]
  const isListed = value !== undefined && (values ?? []).includes(value)
  switch (operator) {
    case 'In':
      return isListed
    case 'NotIn':
      return !isListed
    case 'Exists':
      return value !== undefined
    default:
      return value === undefined
  }
}
