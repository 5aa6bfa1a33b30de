import { type SettingValue, toSettingText } from './setting.ts'

type Predicate = (value: SettingValue) => boolean

/** True for the values that Go's strconv.ParseBool reads as true. */
export function isTrue(value: SettingValue): boolean {
  return value === true || (typeof value === 'string' && /^(?:1|t|T|true|TRUE|True)$/.test(value))
}

/** True for the values that Go's strconv.ParseBool reads as false. */
export function isFalse(value: SettingValue): boolean {
  return value === false || (typeof value === 'string' && /^(?:0|f|F|false|FALSE|False)$/.test(value))
}

/**
 * True for any value but true. It is for settings that only hyperkube's configuration turns on, so a removed
 * setting (null) is off too.
 */
export function isNotTrue(value: SettingValue): boolean {
  return !isTrue(value)
}

export function isEmpty(value: SettingValue): boolean {
  return value === null || toList(value).length === 0
}

export function isNotEmpty(value: SettingValue): boolean {
  return !isEmpty(value)
}

export function isOneOf(...words: readonly string[]): Predicate {
  return (value) => toList(value).some((word) => words.includes(word))
}

/** True if a list has an entry other than these. */
export function hasOtherThan(...words: readonly string[]): Predicate {
  return (value) => toList(value).some((word) => !words.includes(word))
}

export function lacksOneOf(...words: readonly string[]): Predicate {
  return (value) => words.some((word) => !toList(value).includes(word))
}

/** True for numbers of at least `limit`. */
export function isAtLeast(limit: number): Predicate {
  return (value) => toNumber(value) >= limit
}

/** True for zero and for negative numbers. */
export function isZeroOrLess(value: SettingValue): boolean {
  return toNumber(value) <= 0
}

/** True for any number but zero, and for text that is no number. */
export function isNotZero(value: SettingValue): boolean {
  return value !== null && toNumber(value) !== 0
}

export function isZeroDuration(value: SettingValue): boolean {
  return (
    value === 0 || (typeof value === 'string' && /^(?:0+(?:\.0*)?(?:ns|us|\u00b5s|ms|s|m|h)?)+$/.test(value))
  )
}

const hoursPerUnit: Readonly<Record<string, number>> = { h: 1, m: 1 / 60, s: 1 / 3600 }

/** True for durations such as 8760h30m that are longer than `hours`. Units below a second are ignored. */
export function isLongerThan(hours: number): Predicate {
  return (value) => {
    const parts = [...toSettingText(value).matchAll(/([\d.]+)(h|m|s)(?!s)/g)]
    return (
      parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (hoursPerUnit[unit] ?? 0), 0) > hours
    )
  }
}

/** True for TLS 1.0 and 1.1, as Kubernetes (VersionTLS10) and etcd (TLS1.0) write them. */
export function isOldTls(value: SettingValue): boolean {
  return /^(?:VersionTLS1[01]|TLS1\.[01])$/.test(toSettingText(value))
}

const strongSuite =
  /^TLS_(?:ECDHE_(?:ECDSA|RSA)_WITH_)?(?:AES_128_GCM|AES_256_GCM|CHACHA20_POLY1305)(?:_SHA256|_SHA384)?$/

/**
 * True for a list with a weak suite. It is also true without a list, because Go's default suites include CBC
 * suites.
 */
export function hasWeakCipher(value: SettingValue): boolean {
  return isEmpty(value) || toList(value).some((suite) => !strongSuite.test(suite))
}

/** True for addresses, with or without a port, that other hosts can reach. */
export function isReachable(value: SettingValue): boolean {
  return toList(value).some((address) => !/^(?:\[?::1\]?|127\.[\d.]+|localhost)(?::\d+)?$/.test(address))
}

export function hasPlainHttp(value: SettingValue): boolean {
  return toList(value).some((url) => /^http:\/\//i.test(url))
}

/** True if one of the URLs uses http with an address that other hosts can reach. */
export function hasReachableHttp(value: SettingValue): boolean {
  return toList(value).some((url) => {
    const [, host] = /^http:\/\/(\[[^\]]*\]|[^:/]*)/i.exec(url) ?? []
    return host !== undefined && isReachable(host)
  })
}

/** True if one of the patterns matches a foreign origin. Such a pattern allows nearly every origin. */
export function matchesAnyOrigin(value: SettingValue): boolean {
  return toList(value).some((pattern) => {
    try {
      return new RegExp(pattern).test('https://attacker.invalid')
    } catch {
      // An invalid pattern weakens nothing, because kube-apiserver refuses it.
      return false
    }
  })
}

/** True if a list such as A=true,B=false gives `gate` the value `on`. */
export function setsGate(gate: string, on: boolean): Predicate {
  return (value) =>
    toList(value).some((entry) => {
      const [name, state = ''] = entry.split('=').map((part) => part.trim())
      return name === gate && (on ? isTrue(state) : isFalse(state))
    })
}

/** Splits a comma-separated value into its entries. A value that is already a list keeps its entries. */
function toList(value: SettingValue): string[] {
  if (value === null) return []
  const entries = Array.isArray(value) ? value.map(toSettingText) : toSettingText(value).split(',')
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '')
}

function toNumber(value: SettingValue): number {
  return typeof value === 'number' ? value : Number.parseInt(toSettingText(value), 10)
}
