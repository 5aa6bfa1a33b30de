import { HyperkubeError } from '../kit/errors.ts'
import { type ClusterLabels, matchesLabels } from '../spec/inherit.ts'

/** One condition of --select. All conditions must hold. */
interface Condition {
  readonly key: string
  readonly operator: '=' | '!=' | 'exists' | 'missing'
  readonly value: string
}

const conditionPattern =
  /^(?<not>!)?(?<key>[A-Za-z0-9][A-Za-z0-9._/-]*)(?:(?<operator>==?|!=)(?<value>[A-Za-z0-9._-]*))?$/

/**
 * Parses the value of --select: `stage=canary`, `stage!=canary`, `stage` or `!stage`, joined by commas. Returns
 * a filter of labels. Throws if the text is not a selector.
 */
export function parseSelector(text: string): (labels: ClusterLabels) => boolean {
  const conditions = text.split(',').map(parseCondition)
  return (labels) => conditions.every((condition) => holds(condition, labels))
}

function parseCondition(text: string): Condition {
  const { not, key, operator, value = '' } = conditionPattern.exec(text.trim())?.groups ?? {}
  if (key === undefined || (not !== undefined && operator !== undefined))
    throw new HyperkubeError('FLEET_SELECTOR', `${text} is not a condition of labels`, {
      hint: 'use stage=canary, stage!=canary, stage or !stage, joined by commas',
    })
  if (operator === undefined) return { key, operator: not === undefined ? 'exists' : 'missing', value }
  return { key, operator: operator === '!=' ? '!=' : '=', value }
}

function holds({ key, operator, value }: Condition, labels: ClusterLabels): boolean {
  const actual = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case '=':
      return actual === value
    case '!=':
      return actual !== value
    case 'exists':
      return actual !== undefined
    default:
      return actual === undefined
  }
}

/** Lists the clusters of a ClusterSet. */
export function selectMembers<T extends { readonly labels: ClusterLabels }>(
  selector: ClusterLabels,
  clusters: Iterable<T>,
): T[] {
  return [...clusters].filter(({ labels }) => matchesLabels(selector, labels))
}
