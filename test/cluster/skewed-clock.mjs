/** Loaded before the program (`node --import`): its wall clock shows `LULL_TEST_SKEW_MS` more than that of the machine. */
const skewMs = Number(process.env['LULL_TEST_SKEW_MS'])
const RealDate = Date

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + skewMs] : given))
  }

  static now() {
    return RealDate.now() + skewMs
  }
}
