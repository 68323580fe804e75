//! Properties of any text that is given as a scenario: a fuzz target, which `fuzz/fuzz_targets` and the test below
//! call.

use crate::Scenario;

/// A scenario is read, or refused in one line. The text that is written of a scenario can be read again.
pub fn texts(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    match text.parse::<Scenario>() {
        Ok(scenario) => {
            let written = scenario.to_string();
            let again = written.parse::<Scenario>();
            assert!(again.is_ok(), "{again:?} in\n{written}");
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_texts() {
        let minimal = "name='x'\nduration='1s'\n";
        let corpus = [
            "[path]\nrate='1mbit'\nrtt='40ms'\nbuffer='2bdp'\nloss={kind='gilbert',p='1%',r='9%'}\n[[path.change]]\nat='1s'\nrtt='9ms'\n",
            "path={rtt='9ms',jitter='1ms',queue='codel',rate='1mbit',uplink={loss='1%',loss_at='exit'}}\nhost={mss=1400,change=[{at='1s',receive_buffer='9kb'}]}\n",
        ];
        let flows = [
            "[[flow]]\ncontroller='bbr1'\nbbr1='paper'\ncount=2\nstagger='1ms'\n",
            "[[flow]]\ncontroller='reno'\napp={kind='poisson',load='1mbit',sizes=['1kb','9kb']}\nhost={ecn=true}\n",
        ];
        let corpus = corpus.iter().zip(flows);
        let corpus: Vec<Vec<u8>> = corpus
            .map(|(path, flow)| format!("{minimal}{path}{flow}").into_bytes())
            .collect();
        for text in &corpus {
            let read: Result<crate::Scenario, _> = str::from_utf8(text).unwrap().parse();
            read.unwrap();
        }
        fuzzing::run("scenario_texts", &corpus, super::texts);
    }
}
