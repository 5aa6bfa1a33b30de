import type { ChartSettings } from '../spec/chart.ts'

/** A text that is revealed only for Helm. */
interface RevealableText {
  readonly revealText: () => string
}

type Values = Readonly<Record<string, unknown>>

/** Sets the secret values of a chart in its other values. */
export function mergeChartValues(
  { values }: Pick<ChartSettings, 'values'>,
  secrets: ReadonlyMap<string, RevealableText>,
): Values {
  return [...secrets].reduce<Values>(
    (merged, [path, secret]) => setValue(merged, path.split('.'), secret.revealText()),
    values,
  )
}

/** Returns a copy of the values with one value set. A value on the way that is no map is replaced. */
function setValue(values: Values, [key = '', ...rest]: readonly string[], value: string): Values {
  const current: unknown = Object.hasOwn(values, key) ? values[key] : undefined
  const child = rest.length === 0 ? value : setValue(isMap(current) ? current : {}, rest, value)
  return { ...values, [key]: child }
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
