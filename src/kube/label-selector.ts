import { z } from 'zod'

const expression = z.looseObject({
  key: z.string(),
  operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
  values: z.array(z.string()).nullish(),
})
type Expression = z.infer<typeof expression>

/** Schema of a Kubernetes label selector. */
export const labelSelector = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).nullish(),
  matchExpressions: z.array(expression).nullish(),
})
export type LabelSelector = z.infer<typeof labelSelector>

export type ObjectLabels = Readonly<Record<string, string>>

/**
 * True if the selector matches the labels. An empty selector matches everything; undefined and null match
 * nothing.
 */
export function matchesSelector(
  selector: LabelSelector | null | undefined,
  labels: ObjectLabels = {},
): boolean {
  if (selector === undefined || selector === null) return false
  const { matchLabels, matchExpressions } = selector
  return (
    Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (matchExpressions ?? []).every((one) => matchesExpression(one, labels))
  )
}

function matchesExpression({ key, operator, values }: Expression, labels: ObjectLabels): boolean {
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
