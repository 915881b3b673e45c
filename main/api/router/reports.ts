import { makeReport } from '../../services/reports/make.ts';
import { api } from '../context.ts';

export const reports = {
  make: api.reports.make.handler(({ context: { app }, input: { subject, texts } }) => {
    const { name, html } = makeReport(app, subject, { texts });
    return { name, html };
  }),
};
